"""The cost for a Python program: shared objects, graphs, lookups. Compared in the same run with dependency-injector,
dishka and wireup, if they are installed, and with code by hand."""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import threading
import time
import timeit
from typing import Any, Protocol

import invivo
import settings
import startup
import traits
from invivo import _generated as c

QUICK = "--quick" in sys.argv
COUNT = 20_000 if QUICK else 200_000
ROUNDS = 5


class Clock:
    pass


class Ticking(Protocol):
    def tick(self) -> None: ...


class Ticker:
    def tick(self) -> None: ...


# Ten classes, as a service with its parts: by hand it is what `by_hand` says.


class Settings:
    pass


class Log:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings


class Pool:
    def __init__(self, settings: Settings, log: Log) -> None:
        self.settings, self.log = settings, log


class Store:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class Cache:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings


class Users:
    def __init__(self, store: Store, cache: Cache) -> None:
        self.store, self.cache = store, cache


class Orders:
    def __init__(self, store: Store, users: Users) -> None:
        self.store, self.users = store, users


class Mail:
    def __init__(self, log: Log) -> None:
        self.log = log


class Shop:
    def __init__(self, orders: Orders, mail: Mail) -> None:
        self.orders, self.mail = orders, mail


class Page:
    def __init__(self, shop: Shop, users: Users) -> None:
        self.shop, self.users = shop, users


CLASSES = (Settings, Log, Pool, Store, Cache, Users, Orders, Mail, Shop, Page)


def graph_by_hand() -> Page:
    settings = Settings()
    log = Log(settings)
    store = Store(Pool(settings, log))
    users = Users(store, Cache(settings))
    return Page(Shop(Orders(store, users), Mail(log)), users)


def chain_of(assembly: invivo.Assembly) -> None:
    """Ten prototypes in a chain."""
    former: type | None = None
    for number in range(10):
        assembly.prototype(LINKS[number], **({} if former is None else {"link": invivo.ref(former)}))
        former = LINKS[number]


def _link(number: int) -> type:
    if number == 0:
        return type("Link0", (), {})

    def __init__(self: Any, link: Any) -> None:  # noqa: N807
        self.link = link

    return type(f"Link{number}", (), {"__init__": __init__})


LINKS = [_link(number) for number in range(10)]
(L0, L1, L2, L3, L4, L5, L6, L7, L8, L9) = LINKS


def chain_by_hand() -> Any:
    return L9(L8(L7(L6(L5(L4(L3(L2(L1(L0())))))))))


# ---- measuring -----------------------------------------------------------------------------------------


def row(name: str, value: float, unit: str, floor: str, floor_value: float, budget: str, within: bool = True) -> None:
    ratio = value / floor_value if floor_value else 0
    print(
        json.dumps(
            {
                "name": name,
                "value": round(value, 2),
                "unit": unit,
                "floor": floor,
                "floor_value": round(floor_value, 2),
                "ratio": round(ratio, 3),
                "budget": budget,
                "within": within,
            }
        ),
        flush=True,
    )


def best_of(statement: str, names: dict[str, Any], count: int = COUNT) -> float:
    timer = timeit.Timer(statement, globals=names, timer=time.thread_time_ns)
    return min(timer.repeat(ROUNDS, count)) / count


def peers() -> dict[str, dict[str, Any]]:
    """The statements of other libraries for a shared object (a) and for the graph (b)."""
    found: dict[str, dict[str, Any]] = {}
    try:
        from dependency_injector import containers, providers
    except ImportError:
        pass
    else:
        # Its graph scope is the nearest it has: factories, of which what is shared is made for each.
        factory = {}
        factory[Settings] = providers.Factory(Settings)
        factory[Log] = providers.Factory(Log, factory[Settings])
        factory[Pool] = providers.Factory(Pool, factory[Settings], factory[Log])
        factory[Store] = providers.Factory(Store, factory[Pool])
        factory[Cache] = providers.Factory(Cache, factory[Settings])
        factory[Users] = providers.Factory(Users, factory[Store], factory[Cache])
        factory[Mail] = providers.Factory(Mail, factory[Log])
        chain: Any = providers.Factory(L0)
        for link in LINKS[1:]:
            chain = providers.Factory(link, chain)
        container = type("Container", (containers.DeclarativeContainer,), {"clock": providers.Singleton(Clock)})()
        container.clock()
        found["dependency-injector"] = {
            "shared": ("clock()", {"clock": container.clock}),
            "chain": ("chain()", {"chain": chain}),
        }
    try:
        import dishka
    except ImportError:
        pass
    else:
        provider = dishka.Provider()
        provider.provide(Clock, scope=dishka.Scope.APP)
        for cls in CLASSES:
            provider.provide(cls, scope=dishka.Scope.REQUEST)
        for number, link in enumerate(LINKS):
            if number:
                link.__init__.__annotations__["link"] = LINKS[number - 1]
            provider.provide(link, scope=dishka.Scope.APP, cache=False)
        app = dishka.make_container(provider)
        app.get(Clock)

        def request() -> Any:
            with app() as scope:
                return scope.get(Page)

        request()
        found["dishka"] = {
            "shared": ("get(Clock)", {"get": app.get, "Clock": Clock}),
            "graph": ("request()", {"request": request}),
            "chain": ("get(L9)", {"get": app.get, "L9": L9}),
        }
    try:
        import wireup
    except ImportError:
        pass
    else:
        decorated = [wireup.injectable(Clock)]
        decorated += [wireup.injectable(cls, lifetime="scoped") for cls in CLASSES]
        box = wireup.create_sync_container(injectables=decorated)
        box.get(Clock)

        def scoped() -> Any:
            with box.enter_scope() as scope:
                return scope.get(Page)

        scoped()
        found["wireup"] = {
            "shared": ("get(Clock)", {"get": box.get, "Clock": Clock}),
            "graph": ("scoped()", {"scoped": scoped}),
        }
    return found


def against(what: str, others: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {name: best_of(*each[what]) for name, each in others.items() if what in each}


# ---- the rows ------------------------------------------------------------------------------------------


def shared(others: dict[str, dict[str, Any]]) -> None:
    app = invivo.Assembly("bench")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Ticker)
    with invivo.Runtime(app) as runtime:
        assert runtime[Clock] is runtime[Clock]
        names = {"runtime": runtime, "Clock": Clock, "Ticking": Ticking}
        ours = best_of("runtime[Clock]", names)
        theirs = against("shared", others)
        for name, value in theirs.items():
            row(f"python.shared.{name}", value, "ns", "ours", ours, "recorded")
        name = "dependency-injector" if "dependency-injector" in theirs else "dependency-injector (recorded elsewhere)"
        peer = theirs.get("dependency-injector", 54.0)
        row("python.shared", ours, "ns", name, peer, "<= 1.1 x dependency-injector", ours <= 1.1 * peer)
        row("python.shared.protocol", best_of("runtime[Ticking]", names), "ns", "by class", ours, "recorded")
        type_count = max(COUNT // 20, 1000)
        asked = best_of("runtime.resolve_type(Clock)", names, type_count)
        row("python.resolve_type", asked, "ns", "by class", ours, "recorded")
        reloading(runtime, name, peer)


def reloading(runtime: invivo.Runtime, name: str, peer: float) -> None:
    """The same in wall time, while another thread commits reloads that replace the object."""
    stop = threading.Event()
    committed = 0

    def reload() -> None:
        nonlocal committed
        while not stop.is_set():
            runtime.reset("bench.clock")
            committed += 1
            time.sleep(0.001)  # a reload in a millisecond is many; the reader is to be measured, not the GIL

    def read(seconds: float, reloads: int) -> tuple[float, int]:
        """Nanoseconds per read, and the number of different objects, for this time and number of reloads."""
        seen, last, count = 0, None, 0
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds or committed < reloads:
            for _ in range(1_000):
                clock = runtime[Clock]
                if clock is not last:
                    seen, last = seen + 1, clock
            count += 1_000
        return (time.perf_counter() - begun) / count * 1e9, seen

    idle, _ = read(0.2, 0)
    thread = threading.Thread(target=reload)
    thread.start()
    busy, seen = read(0.2, 1_000)
    stop.set()
    thread.join()
    row("python.shared.reload", busy, "ns", name, peer, "<= 3 x dependency-injector", busy <= 3 * peer)
    row("python.shared.reload.idle", idle, "ns", name, peer, "recorded")
    row("python.shared.reload.count", committed, "reloads", "none", 0, ">= 1000", committed >= 1_000)
    row("python.shared.reload.seen", seen, "objects", "reloads", committed, "> 500", seen > 500)


def pins() -> None:
    app = invivo.Assembly("bench")
    app.lazy_singleton(Clock)
    with invivo.Runtime(app) as runtime:
        names = {"runtime": runtime}
        value = best_of("with runtime.pinned(): pass", names)
        block = best_of("with lock: pass", {"lock": threading.Lock()})
        row("python.pin", value, "ns", "a block with a lock", block, "<= 600 ns", value <= 600)


def contexts() -> None:
    """A value three contexts above, and a context that is opened and ended."""
    with invivo.Runtime() as runtime, runtime.context(number=5, text="text"), runtime.context(), runtime.context():
        context = runtime.context()
        names = {"context": context, "runtime": runtime}
        core, out = context._core, c.invivo_value()
        # The floor is the function of C, with arguments that are converted already.
        words = {"word": context._word, "key": core.contexts.key("number").word, "out": ctypes.byref(out)}
        floor = best_of("get(word, key, out, None)", {"get": core.contexts.get, **words})
        row("python.context.get", best_of("context['number']", names), "ns", "a ctypes call", floor, "recorded")
        row("python.context.get.text", best_of("context['text']", names), "ns", "a ctypes call", floor, "recorded")
        opened = best_of("runtime.context().end()", names, max(COUNT // 20, 1000))
        row("python.context.open", opened, "ns", "a ctypes call", floor, "recorded")
        context.end()


def graphs(others: dict[str, dict[str, Any]]) -> None:
    app = invivo.Assembly("bench")
    for cls in CLASSES:
        app.graph(cls)
    chain_of(app)

    class Typed(invivo.Assembly):
        @invivo.prototype
        def pair(self, name: str, size: int) -> Pair:
            return invivo.new(Pair, name, size)

    with invivo.Runtime(app, typed := Typed()) as runtime:
        for _ in range(3):
            page, _ = runtime[Page], runtime[L9]
            typed.pair("a", 1)
        assert page.shop.orders.users is page.users
        names = {**globals(), "runtime": runtime, "typed": typed}
        for what, ours, hand in (
            ("graph", "runtime[Page]", "graph_by_hand()"),
            ("chain", "runtime[L9]", "chain_by_hand()"),
        ):
            name = "python.graph10" if what == "graph" else "python.graph10.prototype"
            mine, by_hand = float("inf"), float("inf")
            for _ in range(3):
                mine, by_hand = min(mine, best_of(ours, names)), min(by_hand, best_of(hand, names))
            row(name, mine, "ns", "by hand", by_hand, "<= 1.5 x by hand", mine <= 1.5 * by_hand)
            for peer, value in against(what, others).items():
                row(f"{name}.{peer}", value, "ns", "by hand", by_hand, "recorded")
        hand = best_of('Pair("a", 1)', names)
        row("python.arguments", best_of('typed.pair("a", 1)', names), "ns", "the constructor", hand, "recorded")


class Pair:
    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size


GROWTH = """
import gc, json, sys, time
import invivo

count = int(sys.argv[1])

def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

class Base:
    pass

classes = [type(f"C{number}", (Base,), {}) for number in range(count)]
app = invivo.Assembly("bench")
before = memory()
for each in classes:
    app.lazy_singleton(each)
begun = time.perf_counter()
runtime = invivo.Runtime(app)
activated = time.perf_counter() - begun
defined = memory() - before
begun = time.perf_counter()
for each in classes:
    runtime[each]
built = time.perf_counter() - begun
instances = memory() - before - defined
middle = classes[count // 2]
lookups = []
for _ in range(5):
    begun = time.perf_counter()
    for _ in range(10_000):
        runtime[middle]
    lookups.append((time.perf_counter() - begun) / 10_000)
reloads = []
for _ in range(20):
    begun = time.perf_counter()
    runtime.define(middle, f"bench.c{count // 2}")
    reloads.append(time.perf_counter() - begun)
runtime.reset_scope("lazy_singleton")
resets = []
for _ in range(20):
    for each in classes[:10]:
        runtime[each]
    begun = time.perf_counter()
    runtime.reset_scope("lazy_singleton")
    resets.append(time.perf_counter() - begun)
times = [activated / count, built / count, min(lookups), min(reloads), min(resets)]
print(json.dumps([*times, defined / count, instances / count]))
runtime.close()
"""


def growth() -> None:
    """Activation, cold and warm lookup, a reload of one key, a reset of a scope with ten objects; memory of a Python
    definition and instance. A million definitions are measured in C: here they would be classes."""
    units = ("us", "us", "ns", "us", "us", "B", "B")
    scale = (1e6, 1e6, 1e9, 1e6, 1e6, 1, 1)
    names = ("activation", "cold", "lookup", "reload.one", "reset.scope", "memory.definition", "memory.instance")
    first: list[float] | None = None  # with 1,000 definitions
    for count in (10, 1_000, 10_000) if QUICK else (10, 1_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", GROWTH, str(count)], capture_output=True, text=True, check=False, timeout=1800
        )
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            raise SystemExit(f"the growth run with {count} definitions failed")
        values = [each * by for each, by in zip(json.loads(done.stdout), scale, strict=True)]
        for name, value, unit, small in zip(names, values, units, first or values, strict=True):
            if count > 10 or not name.startswith("memory"):  # which says nothing of ten
                floor = "1,000 definitions" if count > 10 else "itself, most of it the start"
                row(f"python.{name}.{count}", value, unit, floor, small, "recorded")
        first = first or (values if count == 1_000 else None)


def main() -> None:
    gc.disable()
    others = peers()
    for missing in {"dependency-injector", "dishka", "wireup"} - others.keys():
        print(f"bench: {missing} is not installed: its rows are left out", file=sys.stderr)
    shared(others)
    pins()
    contexts()
    graphs(others)
    settings.main()
    traits.main()
    startup.main()
    growth()


if __name__ == "__main__":
    main()
