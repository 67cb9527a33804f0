"""Inserts switches into a copy of the tree, builds it once, and turns one switch on at a time.

Each switch deletes a check, an undo step or a lease. Prints which the tests notice (killed) and which not (survived),
each as soon as it is known.

    mutants.py DIRECTORY [SELECTION...]     DIRECTORY is kept for the next run
    mutants.py --list [SELECTION...]        prints the mutants with their numbers; nothing runs

A SELECTION is a number, a range of numbers (10-19) or part of a file's name; without one all run, some at the same
time (most of a run is waiting). The last line is also written to DIRECTORY/summary. Exit status 0 when each mutant was
killed or is listed as equivalent; 1 when one survived, its code is no longer in its file, or a program fails without a
mutant.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120  # A hanging mutant is killed too.
WORKERS = 2 * (os.cpu_count() or 1)
GENERAL = ("cases", "model")  # For mutants that their own programs do not detect.


@dataclass(frozen=True)
class Mutant:
    """A switch, and the C programs that should detect it.

    kind: never, the condition is false; always, it is true; skip, the line is left out; forward, the order is not
    reversed; pass, the function answers true.
    equivalent: why no test can notice it.
    """

    kind: str
    code: str
    tests: str
    equivalent: str = ""


# By file below Sources; the code occurs once in it.
MUTANTS: dict[str, list[Mutant]] = {
    "InvivoLoop/FileReader.swift": [
        Mutant("always", "nanoseconds(facts.st_mtim) == nanoseconds(before.st_mtim)", "rereading"),
        Mutant("always", "Int(facts.st_size) == bytes.count", "rereading"),
    ],
    "InvivoObjects/DomainTable.swift": [
        Mutant("skip", "if !job.isAwaited { state.unawaited -= 1 }", "domains"),
        Mutant("never", "ran > 0 || timeout == 0 || !isOpen", "domains"),
        Mutant("never", "job.domain.isHere != nil", "domains threads"),
        Mutant("skip", "state.held { $0.note(job) { $0.isLeft = true } }", "life domains"),
    ],
    "InvivoConfig/SecretPaths.swift": [
        Mutant("skip", "if branch.isSecret { return marked(isSecret: true) }", "secrets"),
        Mutant("skip", "_ = root.declare(ConfigPath.names(path)[...], 1)", "secrets"),
        Mutant("skip", "declarations += more", "secrets"),
        Mutant("skip", "for names in revoked { marked = marked.marked(names, isSecret: false) }", "secrets"),
    ],
    "InvivoReload/DocumentIndex.swift": [
        Mutant("skip", "for name in next.traits.variables { expanding.insert(document, name) }", "environment"),
        Mutant("skip", "deciding.insert(document, decision.key)", "spec_wiring cases"),
        Mutant("skip", "if let target = decision.target { leading.insert(document, target) }", "spec_wiring cases"),
        Mutant("never", "former.traits.variables != next.traits.variables", "environment"),
    ],
    "InvivoReload/DocumentsNext.swift": [
        Mutant("skip", "if states.count > 1 { states.sort { $0.order < $1.order } }", "traits cases"),
        Mutant("never", "state.order != former.order", "includes cases"),
    ],
    "InvivoReload/CoverTable.swift": [
        Mutant("skip", "for reference in found { holders.insert(id, into: reference) }", "spec_wiring cases"),
        Mutant(
            "skip", "if own.overrides.isEmpty { overridden.remove(id) } else { overridden.insert(id) }", "overrides"
        ),
    ],
    "InvivoConfig/ConfigLayers.swift": [
        Mutant("never", "secrets != formerSecrets", "secrets"),
    ],
    "InvivoReload/RuleCheck.swift": [
        Mutant("never", "inputs.contains(where: \\.isSecret)", "secrets"),
    ],
    "InvivoReload/Commit+Undo.swift": [
        Mutant("skip", "failure.others += undoAll()", "domains traits"),
        Mutant("skip", "failure.others += build.stopCommit(isDetached: isAbandoned)", "life"),
        Mutant("skip", "build.abandonCommit()", "life reset overrides starting"),
        Mutant("skip", "Self.dropNew(cells, container)", "life"),
        Mutant("skip", "failure.others += outage.rollBack()", "exclusive"),
        Mutant("skip", "if !failures.isEmpty { state.locked { $0.isStuck = true } }", "exactness traits domains"),
        Mutant("never", "attached.contains(object)", "put_back"),
        Mutant("skip", "restores.add(plan.tuned.map(\\.id))", "trait_crossings"),
        Mutant("skip", "keys.formUnion(found.map(\\.id))", "put_back"),
    ],
    "InvivoReload/Commit.swift": [
        Mutant("skip", "if isRefused { state.refused.insert(id) }", "exactness traits"),
        Mutant("skip", "build.settleCommit()", "life starting"),
        Mutant("skip", "failure.others += notUndone(undo.run())", "traits domains"),
        Mutant("skip", "_ = own.run()", "put_back"),
    ],
    "InvivoReload/PendingRestores.swift": [
        Mutant("skip", "state.keys = refused.union(state.deferred)", "exactness traits"),
        Mutant("skip", "for object in state.over { state.injected[object] = nil }", "setup"),
    ],
    "InvivoTraits/ObjectUndo.swift": [
        Mutant("never", "change.isKept || change.isUndone(instance) != true", "traits domains"),
        Mutant("never", "all.count > 1", "traits exactness"),
        Mutant("skip", "for change in refused { tuning.replace(change.becomeStuck(instance)) }", "exactness traits"),
        Mutant("forward", "all.reversed()", "traits"),
    ],
    "InvivoTraits/Undo.swift": [
        Mutant("skip", "failures += first?.run() ?? []", "traits domains"),
    ],
    "InvivoTraits/Tuning.swift": [
        Mutant("never", "awaited != nil", "trait_crossings"),
        Mutant("never", "!change.isSettled", "traits exactness"),
        Mutant("skip", "for change in stopped { moving.replace(change) }", "ramps"),
        Mutant("skip", "undo.add { tuning.awaited = nil }", "trait_crossings"),
    ],
    "InvivoTraits/Tuning+Plain.swift": [
        Mutant("always", "former.isSeen(shown)", "traits"),
        Mutant("never", "layer.pointee.value.isSame(as: answer)", "traits"),
        Mutant("always", "isSeen(property.read(instance))", "ramps"),
        Mutant("never", "!type.movesNoOther(change.index)", "ramps"),
    ],
    "InvivoTraits/TargetLayers.swift": [
        Mutant("never", "effective[index]?.shows(sameAs: layer) == true", "ramps"),
        Mutant("always", "!layer.isRelative", "verified_values"),
    ],
    "InvivoReload/Ramps.swift": [
        Mutant("always", "!moving.isBusy", "ramps"),
        Mutant("skip", "restores.add([id])", "ramps"),
        Mutant(
            "skip", "if state.locked({ $0.isDue }) { step() }", "ramps", "the next tick makes the step, a little later"
        ),
        Mutant("skip", "for run in runs.values { run.begin(at: now) }", "ramps"),
        Mutant("always", "!block.hasSameBytes(as: old)", "ramps"),
        Mutant("skip", "for alias in links.allAliases(of: id) { editor.set(block, at: alias) }", "ramp_crossings"),
        Mutant("skip", "if isFinalized { finalize(record, key) }", "ramps"),
        Mutant("skip", "state.blocks[id] = rest.isEmpty ? nil : rest", "ramps"),
        Mutant("skip", "if !isMoving { state.locked { $0.objects[object] = nil } }", "ramps"),
        Mutant("never", "groups.contains(where: \\.needTurn)", "ramp_crossings"),
    ],
    "InvivoTraits/CodeStack.swift": [
        Mutant("never", "stack.isBroken || !bases.isEmpty || changes(to: wanted)", "trait_types trait_crossings"),
        Mutant("skip", "undo.add { () throws(Failure) in throw error }", "trait_crossings put_back"),
        Mutant("always", "entries.last === entry", "trait_types put_back"),
        Mutant("always", "!application.isSecret", "secrets"),
    ],
    "InvivoReload/Planner+Settings.swift": [
        Mutant("skip", "for binding in changes.added { _ = registrations.noteRead(binding.path) }", "settings"),
        Mutant("skip", "editor.set(nil as SettingsValue?, at: id)", "settings"),
    ],
    "InvivoReload/SettingsCheck.swift": [
        Mutant("never", "fields.isRequired(index) && given[index] == nil", "settings"),
    ],
    "InvivoReload/Planner+Wiring.swift": [
        Mutant("skip", "if planned != nil { _ = decide(decision, id, &definitions) }", "spec_wiring"),
        Mutant("skip", "definitions.covers[id]?.wiring = before.covers[id]?.wiring", "spec_wiring"),
        Mutant("never", "base.body.isPartial", "spec_wiring"),
        Mutant("always", "!base.body.flags.contains(.waits)", "cases"),
        Mutant("always", "!decision.isDescribed", "cases"),
    ],
    "InvivoTraits/PropertyChange.swift": [
        Mutant("always", "part.seen.map { $0.isSame(as: shown) } ?? true", "traits exactness"),
        Mutant("never", "location.line > 0", "exactness"),
        Mutant("skip", "isUnread = true", "ramps put_back"),
    ],
    "InvivoTraits/BuiltInTrait.swift": [
        Mutant("never", "found.formerName", "traits"),
    ],
    "InvivoBase/Property+Checking.swift": [
        Mutant("always", "!value.hasHandles", "verified_values"),
    ],
    "InvivoReload/Planner+Config.swift": [
        Mutant("never", "next.declaredSecrets != before.config.declaredSecrets", "secrets"),
    ],
    "InvivoReload/BindingTable.swift": [
        Mutant("skip", "secret[Name(name)] = nil", "secrets"),
    ],
    "InvivoReload/InputSearch.swift": [
        Mutant("always", "!fields.contains(path)", "unread"),
        Mutant("always", "!readers.isRead(below: path)", "unread"),
    ],
    "InvivoTraits/Value+Numbers.swift": [
        Mutant("always", "double.isFinite", "ramps"),
    ],
    "InvivoTraits/Ramp.swift": [
        Mutant("always", "duration == other.duration", "ramps"),
    ],
    "InvivoPools/WeakReferences.swift": [
        Mutant("skip", "for weak in claims { drop(weak) }", "pools"),
    ],
    "InvivoPools/EntryWord.swift": [
        Mutant("always", "iv_load_u64(iv_pool_weak_ended(weak)) == 0", "pools"),
        Mutant("pass", "return ObjectTable.isClaimed(object)", "pools"),
    ],
    "InvivoPools/Pool.swift": [
        Mutant(
            "never",
            "record.pointee.type.pointee.has_weak == 0",
            "pools",
            "a shortcut: word(for:) answers the same for a type without weak references",
        ),
    ],
    "InvivoWiring/Container+Creations.swift": [
        Mutant("skip", "state.failure = failure?.code == .cycle ? nil : failure", "pools"),
    ],
    "InvivoWiring/Build+Shared.swift": [
        Mutant("never", "awaited == cell.attempt", "threads"),
        Mutant("never", "isOurs(other)", "threads wiring reentry lookups"),
        Mutant("never", "root !== self", "life"),
        Mutant("never", "!root.canBackOff", "contention circles start_waits"),
        Mutant(
            "skip",
            "if isAsked { container.monitor.broadcast() }",
            "contention",
            "a second way of waking: the failure of the build that backs off wakes everybody who waits",
        ),
        Mutant("skip", "cell.makeCold(cell.failure, container.monitor)", "life starting threads"),
        Mutant("never", "deferrals > mark.deferred", "steps"),
        Mutant("never", "completed.count > mark.completed", "steps"),
        Mutant("never", "frame.low < index", "cases"),
        Mutant("never", "!entry.made.isForeign", "domains"),
    ],
    "InvivoWiring/SetupKeys.swift": [
        Mutant("skip", "found.formUnion(belongings.heldChildren.compactMap(\\.key))", "setup"),
        Mutant("never", "recipe(of: record)?.scope.isShared != true", "setup"),
        Mutant("skip", "found.formUnion(recipe.references.owned)", "setup"),
    ],
    "InvivoWiring/BuildRecords.swift": [
        Mutant("skip", "state.held { $0.sincePlan?[id, default: []].formUnion(used) }", "setup"),
    ],
    "InvivoWiring/Publication.swift": [
        Mutant("skip", "container.builds.noteVisible(id, used)", "outdated"),
        Mutant("skip", "if let overtaken { container.builds.report([id: overtaken]) }", "traits outdated"),
        Mutant("skip", "if !cell.isRetired { container.builds.noteBuilt(cell) }", "reset cases"),
    ],
    "InvivoWiring/Build+Resolve.swift": [
        Mutant("never", "frames[index].awaitsDecoration", "cases"),
    ],
    "InvivoWiring/Container+Build.swift": [
        Mutant(
            "never",
            "arguments.isEmpty && build.frames.isEmpty",
            "programs",
            "without build plans every object is built, only slower",
        ),
    ],
    "InvivoWiring/Recipe+Evaluate.swift": [
        Mutant("always", "arguments.isEmpty", "validation wiring cases"),
    ],
    "InvivoWiring/Graph+Secrets.swift": [
        Mutant("never", "hasSecret(setting.ids, names)", "secrets"),
    ],
    "InvivoWiring/Build+Create.swift": [
        Mutant(
            "skip",
            "if recipe.isTracked { track(recipient) }",
            "following cases",
        ),
        Mutant("never", "recipe.isAbstract", "making"),
        Mutant("never", "located.path.isEmpty", "cases"),
        Mutant("never", "!values.injected.isEmpty", "graph wiring following"),
        Mutant("never", "recipe.decorators.isEmpty", "cases"),
    ],
    "InvivoWiring/StartPhase.swift": [
        Mutant("skip", "failure.others += stopStarted(of: build, lifecycle)", "life"),
    ],
    "InvivoWiring/Lifecycle.swift": [
        Mutant("never", "extra.life == .stopped || extra.life == .failed", "life"),
        Mutant("never", "call.inRun || call.build?.root.isCommit == true", "life"),
    ],
    "InvivoWiring/Disposal.swift": [
        Mutant("skip", "if iv_record_edge_count(record) != 0 { releaseEdges(record) }", "graph life"),
    ],
    "InvivoReload/Reloader+Attempt.swift": [
        Mutant("never", "plan.isNothing && restores.isEmpty", "exactness"),
        Mutant("always", "!hasSecrets", "secrets"),
        Mutant("skip", "for (_, state) in documents { state.traits.adoptLocations() }", "traits"),
        Mutant("skip", "for (document, _) in documents { document.state.traits.adoptLocations() }", "traits"),
        Mutant("never", "isClosing", "abandoning"),
    ],
    "InvivoReload/Stage.swift": [
        Mutant("always", "!isSame", "exactness"),
        Mutant("never", "set.documents.opened.contains { $0.document === document }", "watched"),
    ],
    "InvivoReload/Documents.swift": [
        Mutant("never", "failure.code == .closed && !set.documents.withEvents.isEmpty", "abandoning"),
        Mutant("never", "!gone.isEmpty", "watched"),
        Mutant("always", "isTriedAgain && document.phase == .open", "history"),
        Mutant("never", "hash != document.divergence?.refused", "history"),
        Mutant("skip", "guard new.document.phase == .new else { continue }", "watched"),
        Mutant("skip", "unfollow(new.document)", "watched"),
    ],
    "InvivoReload/History.swift": [
        Mutant("never", "content.isEmpty", "history"),
        Mutant("skip", "if index > 0 { join(entry.content, into: index - 1) }", "history"),
    ],
    "InvivoReload/Planner+Restored.swift": [
        Mutant("never", "losesValue(now, next)", "history"),
        Mutant("skip", "removeHeld(&definitions)", "history"),
        Mutant("skip", "rebased.insert(id)", "history"),
    ],
    "InvivoReload/Engine+Documents.swift": [
        Mutant("skip", "if isNew { documents.endIdleFollowing() }", "watched"),
        Mutant("never", "!container.isClosing", "config closing"),
    ],
    "InvivoReload/Reloader.swift": [
        Mutant("never", "hasDropped", "watched"),
    ],
    "InvivoReload/NewDocument.swift": [
        Mutant("never", "document.phase != .open", "watched"),
    ],
    "InvivoReload/Planner+Affected.swift": [
        Mutant("skip", "if !isHeld { cold.insert(holder) }", "reset following graph"),
        Mutant("never", "definition.alias != nil", "reset choice reports"),
        Mutant("never", "seen.insert(target).inserted", "reset graph"),
    ],
    "InvivoReload/Planner+Compile.swift": [
        Mutant("skip", "addChildren(of: overridden.sorted(), &below, &rebased)", "overrides"),
    ],
    "InvivoReload/Planner+Definitions.swift": [
        Mutant("never", "definitions.changed[child] == nil", "making differential"),
    ],
    "InvivoReload/Planner+Layers.swift": [
        Mutant("never", "!property.isInBlock", "wiring"),
        Mutant("always", "where base[index]?.isSame(as: value) != true", "put_back"),
    ],
    "InvivoReload/CallGate.swift": [
        Mutant("never", "state.isOpen", "domains reports"),
    ],
    "InvivoReload/Definition+Covers.swift": [
        Mutant("never", "timeouts.start == 0", "overrides"),
        Mutant("never", "scope.0 == nil", "overrides"),
    ],
    "InvivoReload/Targets.swift": [
        Mutant("never", "$0.ofObject[target.object] === target", "exactness"),
    ],
    "InvivoReload/Planner+Reset.swift": [
        Mutant("never", "withDependencies", "reset"),
    ],
    "InvivoWiring/RetiredObjects.swift": [
        Mutant("skip", "if claim, ObjectTable.claims(object)?.isHeld != false { return }", "retired"),
        Mutant("skip", "leave(entries.filter { !idle.contains($0.key) })", "retired"),
        Mutant("always", "Self.isHere(type.domain)", "retired"),
        Mutant("always", "ObjectExtra.known(of: $0)?.life == .started", "retired"),
        Mutant("skip", "for (_, object) in released where overdue.contains(object) { warnOfUse(object) }", "retired"),
        Mutant("skip", "entry.extra.retirement.idleSince = 0", "retired"),
        Mutant("skip", "state.locked { $0.isPaused = false }", "retired"),
        Mutant("skip", "if monitor.locked({ !isEmpty }) { onWaiting?() }", "retired"),
        Mutant("never", "grace != .max && now - idleSince >= grace", "retired"),
    ],
    "InvivoReload/ConfigReaders.swift": [
        Mutant("skip", "if wiring.compiled.recipes[holder] != nil { return false }", "unread"),
        Mutant(
            "skip", "if let planned = wiring.definitions.changed[holder], planned == nil { return false }", "unread"
        ),
        Mutant("never", "others.contains(id) || planned.contains(id)", "unread"),
        Mutant("always", "!isNumbered", "unread"),
    ],
    "InvivoReload/UnreadSearch.swift": [
        Mutant("never", "readers.isPattern(id) || readers.isPattern(outer.last?.id)", "unread"),
        Mutant(
            "skip",
            "while let last = outer.last, !entry.path.utf8.starts(with: last.prefix.utf8) { outer.removeLast() }",
            "unread",
        ),
    ],
    "InvivoReload/LoggedReloads.swift": [
        Mutant("skip", 'held[""] = nil', "unread"),
        Mutant(
            "skip",
            "for (document, _) in attempt.set.documents.contents { held[document.name] = nil }",
            "standard_error",
        ),
        Mutant("skip", "if !attempt.set.documents.contents.isEmpty { refused = nil }", "standard_error"),
        Mutant("always", "refused?.read == now.read", "standard_error"),
        Mutant("always", "!attempt.set.documents.withEvents.isEmpty", "standard_error"),
    ],
    "InvivoReload/PatternExpansion.swift": [
        Mutant("never", "live.isSame(as: definition)", "each"),
        Mutant("never", "before.definitions[$0]?.body.each != nil && definitions.changed[$0] == nil", "each"),
        Mutant("skip", "queue.formUnion(gone)", "each"),
        Mutant("never", "other.body.entry == nil", "each"),
        Mutant(
            "skip", "if definitions.changed[child.id] != nil { definitions.changed[child.id] = .some(marked) }", "each"
        ),
        Mutant("never", "entries.count <= mostEntries", "each"),
    ],
    "InvivoWiring/ForkedRuntime.swift": [
        Mutant("always", "wanted == nil || $0.id == wanted", "forked"),
        Mutant("always", "graph.isDefined(id) || graph.block(id) != nil", "forked"),
        Mutant(
            "always",
            "iv_load_u64(iv_core_tag(core)) == bits.tag",
            "forked",
            "whoever enters the core compares the tag too, and the answer is the same",
        ),
    ],
    "InvivoGraph/DefinitionCompiler+Making.swift": [
        Mutant(
            "never",
            "definition.body.factory == nil && !definition.isAbstract && !definition.body.isPartial",
            "validation wiring cases",
        ),
    ],
    "InvivoGraph/TypeIndex.swift": [
        Mutant("skip", "narrow(\\.isOwn)", "lookups"),
        Mutant("always", "$0.rank == first.rank", "lookups"),
        Mutant("skip", "narrow { generic.contains($0.id) }", "lookups"),
        Mutant("skip", "narrow { near($0.id) }", "lookups"),
    ],
    "InvivoBase/Failure.swift": [
        Mutant("never", "named.path.isEmpty", "life"),
        Mutant("never", "named.location.file.isEmpty", "life"),
    ],
    "InvivoBase/NearestName.swift": [
        Mutant("never", "a[i].isSameLetter(as: b[j - 1])", "names"),
    ],
    "InvivoBase/Property+Bounds.swift": [
        Mutant("never", "!inside", "traits"),
    ],
    "InvivoBase/Property+Options.swift": [
        Mutant("never", "given != 0 && given != width", "cases bad_input"),
        Mutant("never", "end > size", "cases bad_input"),
    ],
    "InvivoBase/Value+Border.swift": [
        Mutant("never", "value.reserved == ownedMark", "results converters across"),
    ],
}

SWITCH = """
internal import Glibc

/// The mutant that is switched on.
private let theMutant: Int32 = getenv("INVIVO_MUTANT").map { atoi($0) } ?? -1
public func isMutant(_ number: Int32) -> Bool { theMutant == number }
"""

# The replacement of the code, and the words before it: a condition follows these words, so that the name elsewhere is
# unchanged.
CONDITION = ("if ", "guard ", "where ", "= ", "")
FORMS = {
    "never": ("!{on} && ({code})", CONDITION),
    "always": ("({on} || ({code}))", CONDITION),
    "skip": ("if !{on} {{ {code} }}", ("",)),
    "forward": ("({on} ? all : all.reversed())", ("",)),
    "pass": ("if {on} {{ return true }}; {code}", ("",)),
}


@dataclass(frozen=True)
class Numbered:
    number: int
    file: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.mutant.kind} {self.file}: {self.mutant.code}"

    def insert(self, text: str) -> str | None:
        """The text with the switch; None unless its code occurs exactly once."""
        form, words = FORMS[self.mutant.kind]
        code = self.mutant.code
        before = next((word for word in words if text.count(word + code) == 1), None)
        if before is None:
            return None
        switched = form.format(on=f"isMutant({self.number})", code=code)
        text = text.replace(before + code, before + switched)
        # The function is in InvivoBase.
        knows = "import InvivoBase\n" in text or self.file.startswith("InvivoBase/")
        return text if knows else "internal import InvivoBase\n" + text


ALL = [
    Numbered(number, file, mutant)
    for number, (file, mutant) in enumerate((file, mutant) for file, found in MUTANTS.items() for mutant in found)
]


def selected(words: list[str]) -> list[Numbered]:
    def fits(one: Numbered, word: str) -> bool:
        if not (numbers := re.fullmatch(r"(\d+)(?:-(\d+))?", word)):
            return word in one.file
        first = int(numbers[1])
        return first <= one.number <= int(numbers[2] or first)

    return [one for one in ALL if not words or any(fits(one, word) for word in words)]


def write(path: Path, data: bytes, like: Path) -> None:
    """Does not write a file that has these bytes, so that it is not rebuilt."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    shutil.copymode(like, path)


def prepare(tree: Path) -> set[int]:
    """Copies the sources with all switches; returns the numbers of mutants whose code is missing."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    texts = {name: (ROOT / name).read_bytes() for name in names}
    missing = set()
    for one in ALL:
        name = f"Sources/{one.file}"
        switched = one.insert(texts.get(name, b"").decode())
        if switched is None:
            missing.add(one.number)
        else:
            texts[name] = switched.encode()
    texts["Sources/InvivoBase/Mutant.swift"] = SWITCH.encode()
    headers = [name for name in texts if name.startswith(("include/", "Sources/")) and name.endswith(".h")]
    if any((tree / name).is_file() and (tree / name).read_bytes() != texts[name] for name in headers):
        # SwiftPM would link objects with different layouts.
        shutil.rmtree(tree / ".build", ignore_errors=True)
    for name, data in texts.items():
        write(tree / name, data, ROOT / name if name in names else Path(__file__))
    for folder in ("Sources", "Tests/C", "Tests/Cases"):
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in texts:
                path.unlink()
    return missing


def compile_c(tree: Path, result: Path, arguments: list[str | Path]) -> None:
    """Compiles outdated objects."""
    source = tree / next(str(word) for word in arguments if str(word).endswith(".c"))
    headers = (*source.parent.rglob("*.h"), *(tree / "include").rglob("*.h"))
    if result.is_file() and result.stat().st_mtime > max(path.stat().st_mtime for path in (source, *headers)):
        return
    subprocess.run(["cc", "-w", "-I", "include", *arguments, "-o", result], cwd=tree, check=True)


def build(tree: Path, programs: list[str]) -> Path:
    subprocess.run(["swift", "build", "--product", "InvivoC"], cwd=tree, check=True)
    folder = tree / ".build" / "mutants"
    modules = folder / "modules"
    modules.mkdir(parents=True, exist_ok=True)
    for source in (tree / "Tests/C/modules").glob("*.c"):
        compile_c(tree, modules / f"lib{source.stem}.so", ["-shared", "-fPIC", source, "Sources/InvivoStubs/stubs.c"])
    library = tree / ".build/debug"
    language = ["-g", "-O1", "-std=gnu11", "-D_GNU_SOURCE", f'-DTEST_MODULES="{modules}"']
    libraries = ["-L", library, "-lInvivoC", f"-Wl,-rpath,{library}", "-ldl", "-lm", "-lpthread"]
    for program in programs:
        compile_c(tree, folder / program, [*language, f"Tests/C/{program}.c", *libraries])
    return folder


class Run:
    """Runs programs against the library with one mutant switched on, or none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cases = folder.parents[1] / "Tests/Cases"  # of the same tree as the library
        self.sound: dict[str, bool] = {}
        self.is_stopped = False
        self.children: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.looks: dict[str, threading.Lock] = {}

    def passes(self, program: str, number: int) -> bool:
        environment = {**os.environ, "INVIVO_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no"}
        arguments: list[str | Path] = {
            "contention": ["30"],
            "closing": ["30"],
            "model": ["--sequences", "200"],
            "differential": ["--sequences", "200"],
        }.get(program, [])
        if program == "cases":
            arguments = sorted(self.cases.glob("*/*.case"))
        with self.lock:
            if self.is_stopped:
                return False
            child = subprocess.Popen(
                ["nice", self.folder / program, *arguments],
                cwd=self.folder,
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.children.add(child)
        try:
            return child.wait(TIMEOUT) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.end(child)

    def end(self, child: subprocess.Popen[bytes]) -> None:
        """Ends a program and its children."""
        with self.lock:
            self.children.discard(child)
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def stop(self) -> None:
        with self.lock:
            self.is_stopped = True
            for child in self.children:
                os.killpg(child.pid, signal.SIGKILL)

    def is_sound(self, program: str) -> bool:
        """Whether a program passes without a mutant."""
        with self.lock:
            look = self.looks.setdefault(program, threading.Lock())
        with look:
            if program not in self.sound:
                self.sound[program] = self.passes(program, -1)
                if not self.sound[program] and not self.is_stopped:
                    print(f"mutants: {program} fails without a mutant and is left out", flush=True)
            return self.sound[program]

    def result(self, one: Numbered) -> tuple[str, str]:
        """The result of a mutant, and its detector or reason."""
        programs = one.mutant.tests.split()
        programs += [name for name in GENERAL if name not in programs]
        for program in programs:
            if self.is_sound(program) and not self.passes(program, one.number):
                return "killed", f" by {program}"
        if one.mutant.equivalent:
            return "equivalent", f" ({one.mutant.equivalent})"
        return "survived", f" {' '.join(programs)}"


def run(tree: Path, chosen: list[Numbered]) -> int:
    counts = dict.fromkeys(("killed", "survived", "equivalent", "not found"), 0)
    ended = ""
    unsound = False

    def note(one: Numbered, what: str, how: str) -> None:
        counts[what] += 1
        print(f"mutants: {one.number} {what}{how}: {one}", flush=True)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        missing = prepare(tree)
        for one in chosen:
            if one.number in missing:
                note(one, "not found", ", or not once")
        programs = sorted({name for one in chosen for name in one.mutant.tests.split()} | {*GENERAL})
        running = Run(build(tree, programs))
        with ThreadPoolExecutor(WORKERS) as pool:
            results = {pool.submit(running.result, one): one for one in chosen if one.number not in missing}
            try:
                for done in as_completed(results):
                    note(results[done], *done.result())
            except BaseException:
                running.stop()
                pool.shutdown(cancel_futures=True)
                raise
        unsound = not all(running.sound.values())
    except KeyboardInterrupt:
        ended = ", stopped"
    summary = f"{sum(counts.values())} of {len(ALL)} ran{ended}: " + ", ".join(
        f"{count} {what}" for what, count in counts.items()
    )
    print(f"mutants: {summary}", flush=True)
    (tree / "summary").write_text(f"{summary}\n")
    return 1 if counts["survived"] or counts["not found"] or unsound else 0


def main() -> int:
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if not words or (words[0].startswith("-") and words[0] != "--list"):
        print("usage: mutants.py DIRECTORY [SELECTION...] | --list [SELECTION...] | --help", file=sys.stderr)
        return 2
    chosen = selected(words[1:])
    if not chosen:
        print(f"mutants: none of {len(ALL)} is selected by {' '.join(words[1:])}", file=sys.stderr)
        return 2
    if words[0] == "--list":
        for one in chosen:
            print(one.number, one)
        return 0
    return run(Path(words[0]).resolve(), chosen)


if __name__ == "__main__":
    sys.exit(main())
