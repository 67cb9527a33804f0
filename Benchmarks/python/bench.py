"""What a Python program pays for a shared object, against dependency-injector in the same run."""

import gc
import json
import sys
import threading
import time
import timeit

import invivo

QUICK = "--quick" in sys.argv
COUNT = 200_000 if QUICK else 2_000_000
ROUNDS = 5


class Clock:
    pass


def row(name: str, value: float, unit: str, floor: str, floor_value: float, budget: str, within: bool) -> None:
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


def best(statement: str, names: dict[str, object]) -> float:
    timer = timeit.Timer(statement, globals=names, timer=time.thread_time_ns)
    return min(timer.repeat(ROUNDS, COUNT)) / COUNT


def main() -> None:
    gc.disable()
    app = invivo.Assembly("bench")
    app.lazy_singleton(Clock)
    with invivo.Runtime(app) as runtime:
        assert runtime[Clock] is runtime[Clock]
        ours = best("runtime[Clock]", {"runtime": runtime, "Clock": Clock})
        try:
            from dependency_injector import containers, providers
        except ImportError:
            peer, name = 54.0, "dependency-injector (not installed; recorded elsewhere)"
        else:

            class Container(containers.DeclarativeContainer):
                clock = providers.Singleton(Clock)

            container = Container()
            provider = container.clock
            provider()
            peer, name = best("provider()", {"provider": provider}), "dependency-injector"
        row("python.shared", ours, "ns", name, peer, "<= 1.1 x dependency-injector", ours <= 1.1 * peer)

        # The same while another thread commits reloads.
        source = runtime.source("bench.yaml", "{}")
        stop = threading.Event()
        committed = 0

        def reload() -> None:
            nonlocal committed
            while not stop.is_set():
                source.update("{}" if committed % 2 else "{ }")
                committed += 1

        thread = threading.Thread(target=reload)
        thread.start()
        busy = best("runtime[Clock]", {"runtime": runtime, "Clock": Clock})
        stop.set()
        thread.join()
        row("python.shared.reload", busy, "ns", name, peer, "<= 3 x dependency-injector", busy <= 3 * peer)
        row("python.shared.reload.count", committed, "reloads", "none", 0, "> 0", committed > 0)


if __name__ == "__main__":
    main()
