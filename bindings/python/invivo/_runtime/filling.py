"""Injection into objects that were created elsewhere."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .. import _generated as c
from .._classes.annotations import is_assembly
from .._classes.hints import Hint
from .._declarations.from_context import FromContextMark
from .._declarations.references import Lazy
from .._services.context_opening import current
from .._services.trees import Children, Held, inject_tree
from .._values.foreign import Object
from ..errors import AmbiguousError, NotFoundError, NotReadyError
from .resolving import Resolving


class Filling(Resolving):
    """A runtime that injects into objects of the program."""

    def inject(self, thing: Any, key: str | None = None, *, shared: bool = False) -> None:
        """Injects into an object that was created elsewhere.

        The injections are those of a key's definition, else of the definition of its class, else the marked attributes
        of the class. No constructor runs; all hooks do. ``shared``: it becomes the shared object of its key, which must
        not exist yet.
        """
        core = self._open()
        handle = c.invivo_key()
        if key is not None:
            handle, _ = core.keys.handle(key)
        elif not isinstance(thing, Object) and not core.types.of(builtins.type(thing)).fills_needs:
            cls = builtins.type(thing)
            try:
                core.types.key_of(cls, exact=True)
            except NotFoundError:
                if self.fill(thing):
                    return
                raise NotFoundError(
                    f"no definition makes a {cls.__name__}, and nothing in the class is marked for injection"
                ) from None
        with Held(core) as held:
            flags = c.INVIVO_INTO_SHARED if shared else 0
            core.library.call("inject_with", held.add(thing), handle, flags)

    def inject_tree(
        self,
        root: Any,
        key: str | None = None,
        *,
        children: Children | None = None,
        key_of: Callable[[Any], str | None] | None = None,
        skip: Callable[[Any], bool] | None = None,
        known_only: bool = False,
    ) -> None:
        """Injects into an object that was created elsewhere and into everything below it.

        Each object is injected by the key that it names, else by the definition of its class, else by its marked
        attributes. ``children`` returns the children of an object (otherwise its method marked by `children` does),
        ``key_of`` the key that it names (`injection_key`), ``skip`` whether another loader injects it and its children.
        Objects of definitions are left alone.

        All errors are raised before anything is injected. The last hooks run when the whole tree is complete, children
        before parents. ``known_only``: objects without definition and marked attributes are left as they are.
        """
        inject_tree(self._open(), root, key, children, key_of, skip, known_only)

    def fill(self, thing: Any) -> bool:
        """Injects the marked attributes of an object, as if it had a definition. Returns False if there are none."""
        core = self._open()
        described = core.types.of(builtins.type(thing)).description
        hooks = described.will_inject, described.take_runtime, described.did_inject
        places = described.injected if core.fills_marked else ()
        if hooks[0] is not None:
            getattr(thing, hooks[0])()
        for each in places:
            setattr(thing, each.name, self._for(each.hint, f"{described.name}.{each.name}"))
        if hooks[1] is not None:
            getattr(thing, hooks[1])(self)
        if hooks[2] is not None:
            getattr(thing, hooks[2])()
        return bool(places) or hooks != (None, None, None)

    def _inject_one(self, thing: Any, name: str) -> Any:
        """Fills one marked attribute, and returns its value."""
        core = self._open()
        described = core.types.of(builtins.type(thing)).description
        place = f"{described.name}.{name}"
        if not core.fills_marked:
            raise NotReadyError("the current runtime does not fill marked attributes (inject_marked=False)", path=place)
        found = self._for(described.tunables[name].hint, place)
        setattr(thing, name, found)
        return found

    def _assembly(self, wanted: Any, place: str, *, optional: bool) -> Any:
        found = [each for each in self._core.active.all() if isinstance(each, wanted)]
        if len(found) == 1 or (optional and not found):
            return found[0] if found else None
        what = f"an assembly that is a {wanted.__name__} is wanted"
        if found:
            raise AmbiguousError(f"{what}, and several are: {', '.join(each.name for each in found)}", path=place)
        raise NotFoundError(f"{what}, and none is active", path=place)

    def _of_context(self, hint: Hint, mark: FromContextMark, place: str) -> Any:
        """Returns a value of the current context."""
        context, name = current(self._core), place.rpartition(".")[2]
        if context is None:
            if hint.optional:
                return None
            raise NotReadyError("it receives a value of a context, and there is no current context", path=place)
        if mark.kind is not None:
            context = context.find(kind=mark.kind)
        key = mark.key_for(name)
        return context.get(key) if hint.optional else context[key]

    def _for(self, hint: Hint, place: str) -> Any:
        """Returns the value that an annotation demands, resolved here and now."""
        inner = hint.item or hint
        what: Any = hint.key or inner.key or inner.of
        if hint.context is not None:
            return self._of_context(hint, hint.context, place)
        if hint.late == "runtime":
            return self
        if hint.late == "resolver":
            return self.resolve
        if hint.late == "all":
            return hint.decode(self.resolve_all(inner.of or what))
        if what is None:
            if hint.optional or hint.late == "asker":
                return None
            raise NotFoundError("its annotation does not name the type to inject", path=place)
        if is_assembly(what) and hint.late is None:
            return self._assembly(what, place, optional=hint.optional)
        find = self.resolve_optional if hint.optional or inner.optional else self.resolve
        if hint.late is None:
            return find(what)
        if hint.late == "weak":
            raise NotReadyError("a weak reference is filled where the library makes or injects the object", path=place)
        if what not in self:
            if hint.optional or inner.optional:
                return None
            find(what)  # which raises the error
        return Lazy(lambda: find(what)) if hint.late == "lazy" else lambda *arguments: find(what, *arguments)
