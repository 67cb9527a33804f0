"""The statements of cases, each a call of the public interface or a few."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import fork_marker

import invivo
from invivo import _generated

from . import world
from .assemblies import Assemblies
from .build import SCOPES, Description, Injections, Names, Wrong
from .contexts import Contexts
from .expectations import Expectations
from .history import Hearer, History
from .script import Case, Line, Unreadable, Word
from .traits import trait_type


def text_format(said: Word) -> Literal["yaml", "json"]:
    """The format of a document as text."""
    if said.text not in ("yaml", "json"):
        raise Wrong(f"the format '{said.text}' is neither yaml nor json")
    return "json" if said.text == "json" else "yaml"


STATUSES = {name: number for name, number, _ in _generated.STATUS}


@dataclasses.dataclass(frozen=True)
class Voice:
    """The type of typed settings."""

    voices: int
    rate: float = 48000
    label: str = "none"


@dataclasses.dataclass(frozen=True)
class Found:
    """One of the errors that a call found."""

    rule: str
    text: str


@dataclasses.dataclass(frozen=True)
class Failure:
    """What went wrong, without the exception: its traceback holds objects."""

    status: str
    text: str
    errors: tuple[Found, ...] = ()

    @classmethod
    def of(cls, problem: Exception) -> Failure:
        if isinstance(problem, Exception) and hasattr(problem, "exceptions"):  # a group
            all = [cls.of(each) for each in problem.exceptions]
            return cls(all[0].status, "\n".join(each.text for each in all))
        if not isinstance(problem, invivo.Error):
            return cls("INVIVO_E_HOST", f"{type(problem).__name__}: {problem}")
        errors = tuple(Found(each.rule, f"{each}\n{each.needed_by}") for each in problem.errors)
        return cls(problem.constant, str(problem), errors)


@dataclasses.dataclass
class Answer:
    value: Any = None
    failure: Failure | None = None


class Job(threading.Thread):
    """A statement on a thread of its own."""

    def __init__(self, runner: Runner, line: Line, start: threading.Barrier | None = None, *, at: int = 1) -> None:
        super().__init__(daemon=True)
        self.runner, self.line, self.begin, self.at = runner, line, start, at
        self.answer = Answer()
        self.wrong: Exception | None = None
        self.ended, self.ending = socket.socketpair()
        self.start()

    def run(self) -> None:
        try:
            if self.begin is not None:
                self.begin.wait(world.SECONDS)
            self.answer = self.runner.answer(self.line, self.line.words[self.at :])
        except Exception as problem:
            self.wrong = problem
        finally:
            self.ending.close()

    def wait(self) -> Answer:
        """What it does may need this thread: what comes to that is run meanwhile."""
        runtime = self.runner.runtime
        while self.is_alive():
            # The socket ends with the job. A look from time to time, should something come that is not told of.
            select.select([self.ended, runtime], [], [], 1)
            runtime.poll(0)
        self.ended.close()
        self.join()
        if self.wrong is not None:
            raise self.wrong
        return self.answer


class Statements(Expectations, History, Contexts):
    """What may be said; each answers an object or a value."""

    targets: dict[str, invivo.Target]

    # ---- definitions and changes -------------------------------------------------------------------------

    @contextmanager
    def in_changes(self) -> Iterator[invivo.Changes]:
        """The open set, or one of its own that is committed at once."""
        if self.open is not None:
            yield self.open
        else:
            with self.runtime.changes() as changes:
                yield changes

    def do_begin(self, line: Line) -> None:
        self.open = self.runtime.changes()

    def take_open(self) -> invivo.Changes:
        changes, self.open = self.open, None
        if changes is None:
            raise Unreadable("there is no open set")
        return changes

    def do_commit(self, line: Line) -> None:
        self.take_open().commit()

    def do_discard(self, line: Line) -> None:
        self.take_open().discard()

    def do_check(self, line: Line) -> None:
        if self.open is None:
            raise Unreadable("there is no open set")
        self.open.check()

    def do_define(self, line: Line, key: Word, *_: Word) -> None:
        described = Description(line, self.names).function(key.text)
        with self.in_changes() as changes:
            changes.define(described, key.text)

    def do_remove(self, line: Line, key: Word) -> None:
        with self.in_changes() as changes:
            changes.remove(key.text)

    def do_reset(self, line: Line, key: Word, *_: Word) -> None:
        with self.in_changes() as changes:
            changes.reset(key.text, dependencies=line.says("dependencies"))

    def do_reset_scope(self, line: Line, scope: Word) -> None:
        with self.in_changes() as changes:
            changes.reset_scope(SCOPES[scope.text])

    def do_expect_generation(self, line: Line, which: Word) -> None:
        with self.in_changes() as changes:
            changes.expect(self.runtime.generation - (which.text == "former"))

    def do_document(self, line: Line, name: Word, *none: Word) -> None:
        with self.in_changes() as changes:
            changes.document(name.text, None if none else line.text)

    def do_configure(self, line: Line, path: Word, value: Word) -> None:
        with self.in_changes() as changes:
            changes.configure(path.text, self.names.value(value))

    def do_unconfigure(self, line: Line, path: Word) -> None:
        with self.in_changes() as changes:
            changes.unconfigure(path.text)

    def do_secret(self, line: Line, path: Word, *none: Word) -> None:
        with self.in_changes() as changes:
            (changes.remove_secret if none else changes.add_secret)(path.text)

    def do_secrecy(self, line: Line, path: Word, expected: Word) -> None:
        found = self.runtime.is_secret(path.text)
        if found != (expected.text == "true"):
            raise Wrong(f"{line.place}: {path.text!r} is {'a' if found else 'no'} secret")

    def do_override(self, line: Line, key: Word, *_: Word) -> invivo.Override:
        return self.runtime.override(key.text, Description(line, self.names).function(key.text))

    def do_restore(self, line: Line, name: Word) -> None:
        self.names.at(name.text).end()

    def processor(self, line: Line) -> dict[str, Any]:
        key, kind, priority = (line.labelled(each) for each in ("key", "type", "priority"))
        return {
            "key": key,
            "type": kind and world.kind(kind),
            "priority": int(priority) if priority else 0,
        }

    def do_decorate(self, line: Line, name: Word, *_: Word) -> None:
        by, method, number = (line.labelled(each) for each in ("by", "method", "number"))
        said = {**self.processor(line), "name": name.text}
        with self.in_changes() as changes:
            if by is not None:
                changes.decorate(by, method=method, **said)
            else:
                changes.decorate(wrapping(int(number) if number else 0), **said)

    def do_process(self, line: Line, name: Word, *_: Word) -> None:
        injections = Injections(self.names)

        def visit(described: invivo.Described) -> None:
            for each in line.below:
                if each.verb == "set":
                    described.inject(each.words[1].text, injections.of(each.words[2]))

        for each in line.below:
            if each.verb not in ("set", "fails", "finds"):
                raise Unreadable(f"{each.place}: a processor has no part {each.verb!r}")
        with self.in_changes() as changes:
            changes.process(visit, name=name.text, **self.processor(line))

    def do_unprocess(self, line: Line, name: Word) -> None:
        with self.in_changes() as changes:
            changes.unprocess(name.text)

    def do_require(self, line: Line, name: Word, first: Word, second: Word, *_: Word) -> None:
        here, at = world.world, line.labelled("at")

        def check(one: Any, other: Any) -> None:
            try:
                here.event(f"check({name.text})")
                if one is not None and other is not None and one >= other:
                    raise invivo.Refused("the first is not below the second")
            except RuntimeError as refused:
                raise invivo.Refused(str(refused), input=None if at is None else int(at)) from None

        with self.in_changes() as changes:
            changes.add_rule(name.text, [first.text, second.text], check)

    def do_unrequire(self, line: Line, name: Word) -> None:
        with self.in_changes() as changes:
            changes.remove_rule(name.text)

    def do_trait(self, line: Line, name: Word, kind: Word, *_: Word) -> None:
        trait = trait_type(line, self.names)
        with self.in_changes() as changes:
            changes.add_trait(trait)

    def do_untrait(self, line: Line, name: Word) -> None:
        with self.in_changes() as changes:
            changes.remove_trait(name.text)

    def do_bind(self, line: Line, name: Word, path: Word) -> None:
        with self.in_changes() as changes:
            changes.bind_settings(Voice, path.text, name=name.text)

    def do_unbind(self, line: Line, name: Word) -> None:
        with self.in_changes() as changes:
            changes.unbind_settings(name.text)

    def do_settings(self, line: Line, name: Word) -> Any:
        return dataclasses.asdict(self.runtime.settings(name.text))

    # ---- assemblies --------------------------------------------------------------------------------------

    def do_assembly(self, line: Line, word: Word, *_: Word) -> None:
        self.assemblies.declare(line)

    def do_describe(self, line: Line, *words: Word) -> None:
        self.runtime.describe(*(self.assemblies.instance(each.text) for each in words))

    def do_activate(self, line: Line, *words: Word) -> None:
        given = [self.assemblies.instance(each.text) for each in words]
        with self.in_changes() as changes:
            changes.activate(*given)
        for each in given:
            self.assemblies.active.setdefault(each.name, []).append(each)

    def do_deactivate(self, line: Line, *names: Word) -> None:
        self.runtime.deactivate(*(self.assemblies.now(each.text) for each in names))

    def do_mount(self, line: Line, word: Word, prefix: Word) -> None:
        remap = {each.words[1].text: each.words[2].text for each in line.below if each.verb == "remap"}
        mounted = self.runtime.mount(self.assemblies.another(word.text), prefix.text, remap)
        self.assemblies.active.setdefault(prefix.text, []).append(mounted)

    def do_activity(self, line: Line, name: Word, state: Word) -> None:
        found = self.runtime.assembly_state(name.text)
        if found != state.text:
            raise Wrong(f"{name.text!r} is {found}")

    # ---- asking for objects ------------------------------------------------------------------------------

    def values(self, words: tuple[Word, ...]) -> list[Any]:
        return [self.names.value(each) for each in words if each.label is None]

    def do_resolve(self, line: Line, key: Word, *arguments: Word) -> Any:
        return self.runtime.resolve(key.text, *self.values(arguments))

    def do_optional(self, line: Line, key: Word, *arguments: Word) -> Any:
        return self.runtime.resolve_optional(key.text, *self.values(arguments))

    def do_find(self, line: Line, of: Word, *_: Word) -> Any:
        name = line.labelled("named")
        return self.runtime.resolve_type(
            world.kind(of.text), name, exact=line.says("exact"), optional=line.says("optional")
        )

    def do_all(self, line: Line, of: Word, *_: Word) -> Any:
        return self.runtime.resolve_all(world.kind(of.text), exact=line.says("exact"))

    def do_make(self, line: Line, of: Word, *arguments: Word) -> Any:
        return self.runtime.type(world.kind(of.text))(*self.values(arguments))

    def do_own(self, line: Line, of: Word, *_: Word) -> Any:
        given = line.labelled("given")
        return world.kind(of.text)(given=given)

    def do_call(self, line: Line, name: Word, method: Word, *arguments: Word) -> Any:
        return getattr(self.names.at(name.text), method.text)(*self.values(arguments))

    def do_invoke(self, line: Line, path: Word, *arguments: Word) -> Any:
        return self.names.at(path.text)(*self.values(arguments))

    def do_async(self, line: Line, key: Word) -> Any:
        return asyncio.run(self.runtime.aresolve(key.text))

    def do_convert(self, line: Line, converter: Word, text: Word) -> Any:
        return self.runtime.convert(converter.text, text.text)

    def do_property_text(self, line: Line, type: Word, name: Word, said: Word) -> Any:
        return self.runtime.type(world.kind(type.text)).text_of(name.text, self.names.value(said))

    def do_property_read(self, line: Line, type: Word, name: Word, text: Word) -> Any:
        return self.runtime.type(world.kind(type.text)).value_of(name.text, text.text)

    def do_document_text(self, line: Line, name: Word, format: Word) -> Any:
        return self.runtime.document_text(name.text, text_format(format))

    def do_traits_text(self, line: Line, key: Word, format: Word) -> Any:
        return self.runtime.traits_text(key.text, format=text_format(format))

    def do_configured(self, line: Line, path: Word) -> Any:
        return self.runtime.config(path.text)

    def do_release(self, line: Line, *names: Word) -> None:
        for each in names:
            if each.text not in self.names.kept:
                raise Wrong(f"'{each.text}' is no name of this case")
            del self.names.kept[each.text]

    # ---- the host's objects ------------------------------------------------------------------------------

    def do_inject(self, line: Line, name: Word, *_: Word) -> None:
        key = line.labelled("key")
        self.runtime.inject(self.names.at(name.text), key, shared=line.says("shared"))

    def do_inject_tree(self, line: Line, name: Word, *_: Word) -> None:
        key, foreign = line.labelled("key"), line.labelled("foreign")
        other = None if foreign is None else self.names.at(foreign)
        self.runtime.inject_tree(
            self.names.at(name.text),
            key,
            skip=(lambda thing: thing is other) if foreign is not None else None,
            known_only=line.says("known"),
        )

    def do_attach(self, line: Line, name: Word, key: Word) -> None:
        self.targets[name.text] = self.runtime.attach_target(self.names.at(name.text), key.text)

    def do_detach(self, line: Line, name: Word) -> None:
        if name.text not in self.targets:
            raise Wrong(f"'{name.text}' is not attached")
        self.targets.pop(name.text).detach()

    def do_declare(self, line: Line, key: Word, of: Word) -> None:
        self.runtime.declare_target(key.text, world.kind(of.text))

    # ---- configuration, life, scopes, pools --------------------------------------------------------------

    def do_converter(self, line: Line, name: Word) -> None:
        self.runtime.converter(name.text, length)

    def do_unconverter(self, line: Line, name: Word) -> None:
        self.runtime.remove_converter(name.text)

    def do_observe(self, line: Line, path: Word) -> None:
        here = world.world
        self.runtime.observe_config(path.text, lambda value, generation: here.event(f"changed({path.text})"))

    def do_view(self, line: Line) -> None:
        with self.runtime.view() as self.view:
            for each in line.below:
                self.run(each)
        self.view = None

    def do_pinned(self, line: Line) -> None:
        with self.runtime.pinned():
            for each in line.below:
                self.run(each)

    def do_read(self, line: Line, path: Word) -> Any:
        if self.view is None:
            raise Unreadable("'read' stands in a view")
        return self.view.config(path.text)

    def do_start(self, line: Line, key: Word) -> None:
        self.runtime.start(key.text)

    def do_stop(self, line: Line, key: Word) -> None:
        self.runtime.stop(key.text)

    def do_effect(self, line: Line, name: Word) -> None:
        """An effect outside of a setup."""
        world.add_effect(self.runtime, name.text)

    def do_close(self, line: Line) -> None:
        self.runtime.close()

    def do_scope(self, line: Line, name: Word) -> None:
        here, places = world.world, self.places
        places[name.text] = 0
        self.runtime.scope(
            name.text,
            lambda: places[name.text],
            lambda place, key: here.event(f"{name.text}.keep({key})"),
            lambda place, key: here.event(f"{name.text}.drop({key})"),
        )

    def do_place(self, line: Line, name: Word, place: Word) -> None:
        self.places[name.text] = int(place.text)

    def do_end_place(self, line: Line, name: Word, place: Word) -> None:
        self.runtime.end_scope(name.text, int(place.text))

    def do_pool(self, line: Line, verb: Word, name: Word, *words: Word) -> Any:
        if verb.text == "open":
            cls = world.kind(words[0].text) if words else None
            self.runtime.pool(name.text, None if cls is None else lambda key: self.runtime.type(cls)())
            return None
        pool = self.runtime.find_pool(name.text)
        if verb.text == "clear":
            pool.clear()
        elif verb.text == "count":
            if len(pool) != int(words[0].text):
                raise Wrong(f"{len(pool)} are in the pool")
        elif verb.text == "get":
            return pool[self.names.value(words[0])]
        elif verb.text == "peek":
            found = pool.peek(self.names.value(words[0]))
            if found is None:  # which is how it is said that nothing is found
                raise invivo.errors.NotFoundError(f"the pool has no {words[0].text}")
            return found
        elif verb.text == "put":
            pool[self.names.value(words[0])] = self.names.at(words[1].text)
        elif verb.text == "remove":
            del pool[self.names.value(words[0])]
        else:
            raise Unreadable(f"a pool does not '{verb.text}'")
        return None

    # ---- runtimes and threads ----------------------------------------------------------------------------

    def do_runtime(self, line: Line, name: Word, *_: Word) -> None:
        known = self.runtimes.get(name.text)
        if known is None:
            history = next((int(each.text) for each in _ if each.label == "history"), None)
            marked, prefix = not line.says("without_needs"), line.labelled("prefix")
            known = self.opened(name.text, marked=marked, history=history, prefix=prefix)
        self.runtime = known

    def opened(
        self, name: str, *, marked: bool = True, history: int | None = None, prefix: str | None = None
    ) -> invivo.Runtime:
        here = world.world
        # Files are read by statements alone.
        made = self.runtimes[name] = invivo.Runtime(
            inject_marked=marked,
            history=history,
            environment_prefix=prefix,
            quiet=3600,
            settle_max=3600,
            ramp_tick="manual",
        )

        def reloaded(report: invivo.Report) -> None:
            here.reported = sorted(
                f"{each.key}{':' if each.property else ''}{each.property} {each.what}" for each in report.changes
            )
            here.warned = report.warnings

        made.observe(reloaded)
        return made

    def do_spawn(self, line: Line, *_: Word) -> Job:
        return Job(self.itself, line)

    def do_join(self, line: Line, job: Word) -> Any:
        return self.joined(self.names.kept.pop(job.text))

    def joined(self, job: Job) -> Any:
        answer = job.wait()
        if answer.failure is not None:
            self.failed = answer.failure
        return answer.value

    def do_threads(self, line: Line, many: Word, *_: Word) -> list[Any]:
        start = threading.Barrier(int(many.text))
        jobs = [Job(self.itself, line, start, at=2) for _ in range(int(many.text))]
        return [self.joined(each) for each in jobs]

    def do_repeat(self, line: Line, many: Word, *words: Word) -> None:
        for _ in range(int(many.text)):
            answer = self.itself.answer(line, words)
            if answer.failure is not None:
                self.failed = answer.failure
                return

    def do_child(self, line: Line, *words: Word) -> None:
        """In a forked child, which ends with the status that the statement answers there."""
        child = fork_marker.fork()
        if child == 0:
            status = 255
            try:
                signal.alarm(60)
                failure = self.itself.answer(line, words).failure
                status = 0 if failure is None else -STATUSES[failure.status]
            finally:
                os._exit(status)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended < 0 or ended == 255:
            raise Wrong(f"{line.place}: the child ended with {ended}")
        if ended:
            self.failed = Failure(next(name for name, status in STATUSES.items() if status == -ended), "")

    @property
    def itself(self) -> Runner:
        assert isinstance(self, Runner)
        return self


def wrapping(number: int) -> Callable[[Any], Any]:
    """A decorator: another one of the same type, whose input is the former."""

    def decorate(thing: Any) -> Any:
        return type(thing)(thing, number)

    return decorate


def length(text: str) -> int:
    if not text:
        raise invivo.errors.ConversionError("an empty text has no length here", line=1, column=1)
    return len(text.encode())


class Runner(Statements):
    """Runs one case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.names = Names()
        self.assemblies = Assemblies(self.names)
        self.runtimes: dict[str, invivo.Runtime] = {}
        self.open: invivo.Changes | None = None
        self.view: invivo.View | None = None
        self.places: dict[str, int] = {}
        self.sources: dict[str, invivo.Source] = {}
        self.hearers: dict[str, Hearer] = {}
        self.targets = {}
        self.contexts, self.holders = {}, {}
        self.folder = None
        self.variables = []
        self.failed: Failure | None = None  # of a job
        self.wrong_line: int | None = None  # the statement that was not as it says

    def run_all(self) -> None:
        here = world.fresh()
        here.resolve = lambda key: self.runtime.resolve(key)
        if self.case.lines and self.case.lines[0].verb != "runtime":
            self.runtime = self.opened("main")
        try:
            for line in self.case.lines:
                self.run(line)
        finally:
            self.finish()
        left = {kind: count for kind, count in here.alive.items() if count}
        if left:
            raise Wrong(f"{self.case.name}: objects are left: {left}")

    def finish(self) -> None:
        """Everything that the case leaves is taken away."""
        self.names.kept.clear()
        if self.open is not None:
            self.open.discard()
        gc.collect()
        for each in self.runtimes.values():
            each.close()
        for name in self.variables:
            os.environ.pop(name, None)
        if self.folder is not None:
            self.folder.cleanup()
        gc.collect()

    def run(self, line: Line) -> None:
        try:
            answer = self.answer(line, line.words)
            self.expect(line, answer.failure)
        except Exception as problem:
            problem.add_note(f"{line.place}: in the case {self.case.name}") if hasattr(problem, "add_note") else None
            self.wrong_line = self.wrong_line or line.number
            raise
        if line.result is not None and answer.failure is None:
            self.names.kept[line.result] = answer.value

    def answer(self, line: Line, words: tuple[Word, ...]) -> Answer:
        """What a statement answers, or how it fails."""
        verb, *rest = words or (Word(""),)
        statement = getattr(self, f"do_{verb.text}", None)
        if statement is None or verb.quoted:
            raise Unreadable(f"{line.place}: nothing is said by {verb.text!r}")
        self.failed = None
        try:
            value = statement(line, *rest)
        except (Wrong, Unreadable, TypeError, AssertionError, AttributeError, TimeoutError) as problem:
            if not isinstance(problem, invivo.Error):
                raise
            return Answer(failure=Failure.of(problem))
        except Exception as problem:
            return Answer(failure=Failure.of(problem))
        return Answer(value, self.failed)

    def expect(self, line: Line, failure: Failure | None) -> None:
        """``fails STATUS TEXT...``: the status, and what the whole text contains. ``finds RULE TEXT...``: of several
        errors, one."""
        fails = [each for each in line.below if each.verb == "fails"]
        finds = [each for each in line.below if each.verb == "finds"]
        for each in fails:
            if failure is None:
                raise Wrong(f"{each.place}: it does not fail")
            status, *texts = (word.text for word in each.words[1:])
            if f"INVIVO_E_{status.upper()}" != failure.status:
                raise Wrong(f"{each.place}: it answers {failure.status}: {failure.text}")
            if not all(text in failure.text for text in texts):
                raise Wrong(f"{each.place}: it says: {failure.text}")
        for each in finds:
            rule, *texts = (word.text for word in each.words[1:])
            errors = failure.errors if failure is not None else ()
            if not any(one.rule == rule and all(text in one.text for text in texts) for one in errors):
                raise Wrong(f"{each.place}: it finds: {errors}")
        if finds and failure is not None and len(finds) != len(failure.errors):
            raise Wrong(f"{line.place}: {len(failure.errors)} errors are found: {failure.text}")
        if failure is not None and not fails and not finds:
            raise Wrong(f"{line.place}: it answers {failure.status}: {failure.text}")
