"""Short readings of one generation: views that end in the function which begins them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _generated as c
from .pins import entered

T = TypeVar("T")


def reading(
    library: Any, handle: c.invivo_runtime, function: Callable[[c.invivo_view], T], *, in_pin: bool = False
) -> T:
    """Calls a function with a view of a runtime. The graph of the view is NULL if the runtime is closed.

    ``in_pin``: the view has the generation of the pin of the context, if there is one. The view ends wherever a signal
    handler raises.
    """
    end = library.view_end
    views: list[Any] = [None]
    # No Python code runs between the calls of the library and the changes of the list: a view is in it, or has ended.
    beginning = map(library.view_begin, (handle,))
    try:
        try:
            if in_pin:
                entered(library, views.extend, beginning)
            else:
                views.extend(beginning)
            return function(views[-1])
        finally:
            while views:
                collections.deque(map(end, iter(views.pop, None)), 0)
    except BaseException:  # a signal handler may have raised in the block above
        while views:
            collections.deque(map(end, iter(views.pop, None)), 0)
        raise
