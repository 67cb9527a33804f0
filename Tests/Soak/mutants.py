"""Inserts switches into a copy of the tree, builds it once, and turns one switch on at a time.

Each switch deletes a check, an undo step or a lease. Prints which the tests notice (killed) and which not (survived).

    mutants.py DIRECTORY [LIMIT]     DIRECTORY is kept for the next run; LIMIT ends it after so many mutants

Exit status 1 when a mutant survives that is not listed as equivalent, or when the text of one is no longer in its file.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120  # A mutant that hangs is killed too.
GENERAL = ("cases", "model")  # For mutants that their own programs do not notice.

# kind, file below Sources, code that occurs once there, C programs that should notice.
# never: the condition is false. always: it is true. skip: the statement is left out.
MUTANTS = [
    # Undo of a failed commit.
    ("skip", "InvivoReload/Engine+Commit.swift", "failure.others += work.undoAll()", "domains traits"),
    ("skip", "InvivoReload/Engine+Commit.swift", "failure.others += container.stopStarted(chain)", "life"),
    ("skip", "InvivoReload/Engine+Commit.swift", "container.abandonCommit(chain)", "life reset overrides starting"),
    ("skip", "InvivoReload/Engine+Commit.swift", "dropNew(plan)", "life graph components"),
    ("skip", "InvivoReload/Engine+Commit.swift", "failure.others += outage.takeBack()", "exclusive"),
    ("skip", "InvivoReload/Engine+Commit.swift", "if !failures.isEmpty { isStuck = true }", "exactness traits domains"),
    ("skip", "InvivoReload/Engine+Commit.swift", "work.refused.insert(id)", "exactness traits"),
    ("skip", "InvivoReload/Engine+Commit.swift", "unsettled = work.refused", "exactness traits"),
    ("skip", "InvivoReload/Engine+Commit.swift", "container.settleCommit(chain)", "life starting"),
    ("skip", "InvivoReload/Engine+Commit.swift", "failure.others += work.notUndone(undo.run())", "traits domains"),
    # Undo within one object, and values that others changed.
    ("never", "InvivoTraits/Undo.swift", "change.isKept || change.isUndone(instance) != true", "traits domains"),
    ("never", "InvivoTraits/Undo.swift", "all.count > 1", "traits exactness"),
    ("skip", "InvivoTraits/Undo.swift", "failures += first?.run() ?? []", "traits domains"),
    (
        "skip",
        "InvivoTraits/Undo.swift",
        "for change in refused { tuning.replace(change.becomeStuck(instance)) }",
        "exactness traits",
    ),
    ("forward", "InvivoTraits/Undo.swift", "all.reversed()", "traits"),
    ("always", "InvivoTraits/Tuning.swift", "former.isSeen(shown)", "traits"),
    ("never", "InvivoTraits/Tuning.swift", "!change.isSettled", "traits exactness"),
    ("always", "InvivoTraits/PropertyChange.swift", "part.seen.map { $0.isSame(as: shown) } ?? true", "traits"),
    ("never", "InvivoTraits/Tuning.swift", "layer.pointee.value.isSame(as: answer)", "traits"),
    ("always", "InvivoTraits/Tuning.swift", "asked.isSame(as: answer)", "traits exactness"),
    ("never", "InvivoTraits/PropertyChange.swift", "place.line > 0", "traits errors"),
    ("never", "InvivoTraits/Trait.swift", "found.formerName", "traits"),
    # Pools.
    ("always", "InvivoWiring/PoolTable.swift", "iv_load_u64(iv_pool_weak_ended(weak)) == 0", "pools"),
    ("pass", "InvivoWiring/PoolTable.swift", "return ObjectTable.isClaimed(value)", "pools"),
    ("skip", "InvivoWiring/Pool+Making.swift", "ticket.failure = failure?.code == .cycle ? nil : failure", "pools"),
    ("never", "InvivoWiring/Pool+Making.swift", "record.pointee.type.pointee.has_weak == 0", "pools"),
    ("skip", "InvivoWiring/Pool+Making.swift", "if let former { drop(former) }", "pools"),
    # Builds, and who waits for them.
    ("never", "InvivoWiring/Container+Shared.swift", "awaited == cell.attempt", "threads"),
    (
        "never",
        "InvivoWiring/Container+Shared.swift",
        "other === chain.root || chain.isInside(other)",
        "threads wiring reentry lookups",
    ),
    ("skip", "InvivoWiring/Container+Shared.swift", "if isAsked { monitor.broadcast() }", "contention"),
    ("skip", "InvivoWiring/Container+Shared.swift", "reset(cell, cell.failure)", "life starting threads"),
    ("never", "InvivoWiring/Container+Complete.swift", "chain.deferrals > mark.deferred", "life steps chains"),
    ("never", "InvivoWiring/Container+Complete.swift", "chain.completed.count > mark.completed", "life steps"),
    ("never", "InvivoWiring/Container+Complete.swift", "overtaken", "threads following views"),
    ("never", "InvivoWiring/Container+Complete.swift", "!cell.isRetired", "weak threads following"),
    ("never", "InvivoWiring/Container+Complete.swift", "frame.low < index", "circles graph"),
    ("never", "InvivoWiring/Container+Resolve.swift", "chain.frames[index].awaitsDecoration", "wiring graph circles"),
    ("never", "InvivoWiring/Container+Resolve.swift", "arguments.isEmpty && chain.frames.isEmpty", "programs"),
    ("never", "InvivoWiring/Container+Resolve.swift", "!entry.made.isForeign", "wiring circles graph"),
    ("never", "InvivoWiring/Container+Make.swift", "recipe.isTracked", "following"),
    ("never", "InvivoWiring/Container+Make.swift", "recipe.isAbstract", "wiring components corners"),
    ("never", "InvivoWiring/Container+Make.swift", "located.path.isEmpty", "wiring errors"),
    ("never", "InvivoWiring/Container+Make.swift", "!injected.isEmpty", "graph wiring following"),
    ("never", "InvivoWiring/Container+Make.swift", "recipe.decorators.isEmpty", "steps circles"),
    # Life.
    ("never", "InvivoWiring/Container+Life.swift", "extra.life == .started", "life"),
    ("never", "InvivoWiring/Container+Life.swift", "extra.life == .stopped || extra.life == .failed", "life"),
    ("never", "InvivoWiring/Container+Life.swift", "commit !== chain", "life starting"),
    ("never", "InvivoWiring/Container+Life.swift", "named.path.isEmpty", "life"),
    ("never", "InvivoWiring/Container+Life.swift", "named.place.file.isEmpty", "life"),
    # Domains and jobs.
    ("never", "InvivoWiring/Container+Jobs.swift", "ran > 0 || timeout == 0 || isClosing", "domains"),
    ("never", "InvivoWiring/Container+Jobs.swift", "job.domain.isHere != nil", "domains threads"),
    (
        "skip",
        "InvivoWiring/Container+Dispose.swift",
        "if iv_record_edge_count(record) != 0 { releaseEdges(record) }",
        "graph life",
    ),
    # What reloads do.
    ("never", "InvivoReload/Engine+Reload.swift", "plan.isNothing && unsettled.isEmpty", "exactness reports following"),
    ("never", "InvivoReload/Engine+Reload.swift", "isSame", "reports config exactness"),
    ("skip", "InvivoReload/Engine+Affected.swift", "if !isHeld { cold.insert(holder) }", "reset following graph"),
    ("never", "InvivoReload/Engine+Affected.swift", "definition.alias != nil", "reset choice reports"),
    ("never", "InvivoReload/Engine+Affected.swift", "seen.insert(target).inserted", "reset graph"),
    ("never", "InvivoReload/Engine+Layers.swift", "!property.isInBlock", "traits"),
    ("never", "InvivoReload/Engine+Config.swift", "!container.isClosing", "config closing"),
    ("never", "InvivoReload/Observer.swift", "isOpen", "domains reports"),
    ("never", "InvivoReload/Override.swift", "timeouts.start == 0", "overrides"),
    ("never", "InvivoReload/Override.swift", "scope.0 == nil", "overrides"),
    ("never", "InvivoReload/Engine+Targets.swift", "attachments[target.object] === target", "traits"),
    ("never", "InvivoReload/Engine+Reset.swift", "withDependencies", "reset"),
    # Values and names.
    ("never", "InvivoBase/NearestName.swift", "i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]", "names"),
    ("never", "InvivoBase/PropertyBounds.swift", "!inside", "traits"),
    ("never", "InvivoBase/Property+Options.swift", "given != 0 && given != width", "misuse bad_input"),
    ("never", "InvivoBase/Property+Options.swift", "end > size", "misuse bad_input"),
    ("never", "InvivoBase/Value+Border.swift", "value.reserved == ownedMark", "results converters across"),
]

# Mutants that change nothing that a test may see: file and code, and why.
EQUIVALENT: dict[tuple[str, str], str] = {}

SWITCH = """
internal import Glibc

/// The mutant that is switched on.
private let theMutant: Int32 = getenv("INVIVO_MUTANT").map { atoi($0) } ?? -1
public func isMutant(_ number: Int32) -> Bool { theMutant == number }
"""


def mutated(kind: str, code: str, number: int) -> str:
    on = f"isMutant({number})"
    if kind == "never":
        return f"!{on} && ({code})"
    if kind == "always":
        return f"({on} || ({code}))"
    if kind == "skip":
        return f"if !{on} {{ {code} }}"
    if kind == "forward":
        return f"({on} ? all : all.reversed())"
    assert kind == "pass", kind
    return f"if {on} {{ return true }}; {code}"


def prepare(tree: Path) -> list[str]:
    """A copy of the sources with all switches; what is no longer there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    files = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    texts = {name: (ROOT / name).read_bytes() for name in files}
    missing = []
    for number, (kind, file, code, _) in enumerate(MUTANTS):
        name = f"Sources/{file}"
        text = texts.get(name, b"").decode()
        # A condition is one after `if`, `guard`, `where` or `=`, so that a name elsewhere is left alone.
        before = (
            ""
            if kind in ("skip", "forward", "pass")
            else next((word for word in ("if ", "guard ", "where ", "= ", "") if text.count(word + code) == 1), "")
        )
        if text.count(before + code) != 1:
            missing.append(f"{file}: {code}")
            continue
        texts[name] = text.replace(before + code, before + mutated(kind, code, number)).encode()
    texts["Sources/InvivoBase/Mutant.swift"] = SWITCH.encode()
    for name, data in texts.items():
        path = tree / name
        if path.is_file() and path.read_bytes() == data:
            continue
        if name.endswith(".h"):  # SwiftPM would link objects with different layouts.
            shutil.rmtree(tree / ".build", ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        shutil.copymode(ROOT / name if (ROOT / name).exists() else __file__, path)
    for folder in ("Sources", "Tests/C"):
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in texts:
                path.unlink()
    return missing


def build(tree: Path, programs: list[str]) -> Path:
    subprocess.run(["swift", "build", "--product", "InvivoC"], cwd=tree, check=True)
    folder = tree / ".build" / "mutants"
    modules = folder / "modules"
    modules.mkdir(parents=True, exist_ok=True)
    for source in (tree / "Tests/C/modules").glob("*.c"):
        subprocess.run(
            [
                "cc",
                "-shared",
                "-fPIC",
                "-I",
                "include",
                source,
                "Sources/InvivoStubs/stubs.c",
                "-o",
                modules / f"lib{source.stem}.so",
            ],
            cwd=tree,
            check=True,
        )
    library = tree / ".build/debug"
    for program in programs:
        subprocess.run(
            [
                "cc",
                "-g",
                "-O1",
                "-w",
                "-std=gnu11",
                "-D_GNU_SOURCE",
                f'-DTEST_MODULES="{modules}"',
                "-I",
                "include",
                f"Tests/C/{program}.c",
                "-L",
                library,
                "-lInvivoC",
                f"-Wl,-rpath,{library}",
                "-ldl",
                "-lm",
                "-lpthread",
                "-o",
                folder / program,
            ],
            cwd=tree,
            check=True,
        )
    return folder


def passes(folder: Path, program: str, number: int) -> bool:
    environment = {**os.environ, "INVIVO_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no"}
    arguments: list[str | Path] = ["30"] if program in ("contention", "closing") else []
    if program == "cases":
        arguments = sorted((ROOT / "Tests/Cases").glob("*/*.case"))
    with subprocess.Popen(
        ["nice", folder / program, *arguments],
        cwd=folder,
        env=environment,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as child:
        try:
            return child.wait(TIMEOUT) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return False
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else len(MUTANTS)
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    missing = prepare(tree)
    for each in missing:
        print(f"mutants: not found once: {each}", flush=True)
    programs = sorted({program for _, _, _, tests in MUTANTS for program in tests.split()} | {*GENERAL})
    folder = build(tree, programs)
    sound = {program: passes(folder, program, -1) for program in programs}
    for program in (name for name, well in sound.items() if not well):
        print(f"mutants: {program} fails without a mutant and is left out", flush=True)
    killed, survived, equivalent, ran = 0, 0, 0, 0
    try:
        for number, (kind, file, code, tests) in enumerate(MUTANTS[:limit]):
            if f"{file}: {code}" in missing:
                continue
            ran += 1
            by = next(
                (test for test in (*tests.split(), *GENERAL) if sound[test] and not passes(folder, test, number)), None
            )
            reason = EQUIVALENT.get((file, code))
            if by:
                killed += 1
                what = f"killed by {by}"
            elif reason:
                equivalent += 1
                what = f"equivalent ({reason})"
            else:
                survived += 1
                what = f"survived {tests}"
            print(f"mutants: {number} {what}: {kind} {file}: {code}", flush=True)
    except KeyboardInterrupt:
        print("mutants: stopped", flush=True)
    print(
        f"mutants: {ran} of {len(MUTANTS)} ran: {killed} killed, {survived} survived, {equivalent} equivalent, "
        f"{len(missing)} not found",
        flush=True,
    )
    return 1 if survived or missing or not all(sound.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
