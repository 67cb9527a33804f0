"""The session: a Python component that outlives its own edits, a rule, and a rollback.

The session notes each reload in synth.session.csv. An edit of `config: {synth: {title: ...}}` creates it again. An edit
that silences the oscillator is undone.
"""

import invivo


def register(runtime: invivo.Runtime) -> None:
    """Runs when the module is loaded."""
    runtime.add_rule("no clipping", ["synth.lead.gain", "synth.filter.resonance"], is_not_clipped)


def is_not_clipped(gain: float | None, resonance: float | None) -> None:
    if gain is not None and resonance is not None and gain * (1 + resonance) > 1.5:
        raise invivo.Refused(f"gain * (1 + resonance) is {gain * (1 + resonance):.2f}, and at most 1.5 is allowed")


@invivo.component
class Session:
    def __init__(self, title: str, lead: invivo.Object) -> None:
        former = invivo.former()  # the session that this one replaces
        self.title, self.lead = title, lead
        self.number: int = 1 if former is None else former.number + 1
        self.edits: int = 0 if former is None else former.edits
        self.good: int = 0 if former is None else former.good  # the last generation with a sound

    @invivo.on_setup
    def set_up(self) -> None:
        self.runtime = invivo.current()
        path, mode = "synth.session.csv", "w" if self.number == 1 else "a"
        self.log = open(path, mode, encoding="utf-8")  # noqa: SIM115 (the effect closes it)
        if self.number == 1:
            self.log.write("session,edits,generation,title\n")
        self.runtime.effect(self.log.close)
        self.runtime.observe(self.note)  # ends before the file is closed

    def note(self, report: invivo.Report) -> None:
        if not report.committed:
            return
        self.edits += 1
        self.log.write(f"{self.number},{self.edits},{report.generation},{self.title}\n")
        self.log.flush()
        if self.lead.gain > 0:
            self.good = report.generation
        elif self.good:
            print(f"silent, so generation {self.good} comes back", flush=True)
            changes = self.runtime.changes()
            changes.rollback(self.good)
            changes.submit()  # an observer must not wait for a reload
