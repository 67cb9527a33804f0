"""Compiles and runs the samples of docs/configuration.md, each in a program around it, with the documents beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from test_readme import LIMIT, ROOT, compile_with, library, swift_program

PAGE = (ROOT / "docs" / "configuration.md").read_text()


def sample(heading: str, language: str, index: int = 0) -> str:
    """A sample of a section. Outputs have no language."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^```(\w*)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    samples = [text for name, text in found if name == language]
    assert len(samples) > index, f"the section '{heading}' has {len(samples)} samples in {language!r}"
    return samples[index]


def printed(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> list[str]:
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, **(environment or {})}
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()


# `tell` edits a document, and prints the error if it is refused.
PYTHON = """
from __future__ import annotations
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal
import invivo

def tell(name: str, text: str) -> None:
    try:
        with runtime.changes() as changes:
            changes.document(name, text)
    except invivo.Error as error:
        print(error)

"""


def run_python(folder: Path, *parts: str) -> list[str]:
    (folder / "sample.py").write_text(PYTHON + "\n".join(parts))
    environment = {"PYTHONPATH": str(ROOT / "bindings" / "python"), "INVIVO_LIBRARY": str(library())}
    return printed([sys.executable, "sample.py"], folder, environment)


def test_rules_in_python(tmp_path: Path) -> None:
    document = sample("Rules", "yaml")
    said = run_python(
        tmp_path, "runtime = invivo.Runtime()", sample("Rules", "python"), f"tell('tuning.yaml', {document!r})"
    )
    (expected,) = sample("Rules", "").splitlines()
    assert len(said) == 1
    assert said[0].startswith(expected.partition(": the rule")[0]), said
    assert "low_is_below_high' refuses this value" in said[0], said


def test_typed_settings_in_python(tmp_path: Path) -> None:
    good = "config:\n  audio: { rate: 48000, buffer: 5 ms, outputs: [{ device: left }] }\n"
    said = run_python(
        tmp_path,
        "@dataclass\nclass Output:\n    device: str\n",
        "runtime = invivo.Runtime()",
        f"tell('good.yaml', {good!r})",
        sample("Typed settings", "python"),
        "print(runtime.settings(Audio))",
        f"tell('tuning.yaml', {sample('Typed settings', 'yaml')!r})",
        "app = invivo.Assembly('app')\napp.lazy_singleton(Player)",
        "Path('app.yaml').write_text('config: { audio: { rate: 44100 } }')",
        sample("Typed settings", "python", 1),
        "print(type(player).__name__)",
    )
    assert said[0].startswith("Audio(rate=48000, device='default', buffer=datetime.timedelta(microseconds=5000)")
    assert said[1:] == [*sample("Typed settings", "").splitlines(), "Player"]


def test_types_of_settings_in_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(
        "import dataclasses\nimport invivo\n\n"
        "@invivo.settings_type\n@dataclasses.dataclass\nclass Audio:\n    rate: int\n\n"
        "@invivo.settings_type\n@dataclasses.dataclass\nclass Voice:\n    gain: float = 1.0\n\n"
        "@invivo.component\nclass Player:\n    def __init__(self, audio: Audio) -> None:\n        self.audio = audio\n"
    )
    manifest = (
        sample("Typed settings", "yaml", 1) + "config: { audio: { rate: 48000 }, synth: { left: { gain: 2 } } }\n"
    )
    (tmp_path / "app.yaml").write_text(manifest)
    said = run_python(
        tmp_path,
        "with invivo.App('app.yaml') as app:",
        "    print(app.runtime['synth.player'].audio.rate, app.runtime.settings('left').gain)",
    )
    assert said == ["48000 2.0"]


def test_secrets_in_python(tmp_path: Path) -> None:
    said = run_python(
        tmp_path,
        "runtime = invivo.Runtime()",
        "tell('base.yaml', 'config: { database: { password: abc }, tls: { key: 5 } }')",
        sample("Secrets", "python"),
        "print(runtime.is_secret('tls.key'), runtime.is_secret('database.host'), runtime.settings(Database).password)",
        "runtime.add_rule('key fits', ['tls.key'], lambda key: key == 5)",
        f"tell('database.yaml', {sample('Secrets', 'yaml', 1)!r})",
        f"tell('tls.yaml', {sample('Secrets', 'yaml', 2)!r})",
    )
    expected = sample("Secrets", "").splitlines()
    assert said[0] == "True False abc"
    # The error of the class names the kind of the value.
    assert said[1].startswith(expected[0].partition(": <secret>")[0]), said
    assert said[2] == expected[1]


def test_choices_in_python(tmp_path: Path) -> None:
    said = run_python(
        tmp_path,
        "class Wave: ...\nclass Saw(Wave): ...\nclass Noise(Wave): ...\n",
        "class Synth(invivo.Assembly, name='synth'):",
        "    @invivo.lazy_singleton\n    def saw(self) -> Saw:\n        return invivo.new(Saw)\n",
        "    @invivo.lazy_singleton\n    def noise(self) -> Noise:\n        return invivo.new(Noise)\n",
        textwrap.indent(sample("Choices", "python"), "    "),
        "runtime = invivo.Runtime()",
        "runtime.configure('synth.wave', 'saw')",
        "runtime.activate(Synth())",
        "for value in ('saw', 'synth.noise', 'synth.saw', 5):",
        "    runtime.configure('synth.wave', value)",
        "    print(type(runtime['synth.wave']).__name__)",
    )
    assert said == ["Saw", "Noise", "Saw", "Noise"]


def test_components_in_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(
        "import invivo\n\n@invivo.component\nclass Voice:\n    level: float = 1.0\n"
        "    def __init__(self, note: int = 60) -> None:\n        self.note, self.pitch = note, 0\n"
        "    def tune(self, pitch: int) -> None:\n        self.pitch = pitch\n\n"
        "@invivo.component\nclass Horn: ...\n\n@invivo.component\nclass Clock: ...\n\n"
        "@invivo.component\nclass Factory:\n    def make(self) -> Voice:\n        return Voice(7)\n\n"
        "@invivo.component\nclass Band:\n    def __init__(self, voices: list, clock, voice) -> None:\n"
        "        self.voices, self.clock, self.voice = voices, clock, voice\n"
    )
    (tmp_path / "app.yaml").write_text(
        "modules: { parts: parts.py }\nconfig: { synth: { level: 0.5 } }\n"
        + sample("Components in a manifest", "yaml")
        + "  synth.factory: { type: Factory }\n"
    )
    said = run_python(
        tmp_path,
        "with invivo.App('app.yaml') as app:",
        "    low, made = app.runtime['synth.low'], app.runtime['synth.made']",
        "    print(low.note, low.level, low.pitch, made.note)",
        "    band = app.runtime['synth.band']",
        "    print(type(app.runtime['synth.loud']).__name__, band.clock, len(band.voices))",
        "    print(band.voice(50).note, app.runtime.resolve('synth.voice', 30).note)",
    )
    assert said[0] == "40 0.5 440 7"
    assert said[1] == "Horn None 2"
    assert said[2] == "50 30"


def test_choices_in_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(
        "import invivo\n\nclass Wave: ...\n\n@invivo.component\nclass Saw(Wave): ...\n\n"
        "@invivo.component\nclass Noise(Wave): ...\n"
    )
    (tmp_path / "app.yaml").write_text(
        "modules: { parts: parts.py }\nconfig: { synth: { wave: saw } }\ncomponents:\n"
        "  synth.saw: { type: Saw }\n  synth.noise: { type: Noise }\n"
        + textwrap.indent(sample("Choices", "yaml"), "  ")
    )
    said = run_python(
        tmp_path,
        "with invivo.App('app.yaml') as app:",
        "    for value in ('saw', 'synth.noise', 'synth.saw', 5):",
        "        app.runtime.configure('synth.wave', value)",
        "        print(type(app.runtime['synth.wave']).__name__)",
    )
    assert said == ["Saw", "Noise", "Saw", "Noise"]


def test_documents(tmp_path: Path) -> None:
    """The documents of the first sections, with the files and variables that they name."""
    for folder in ("sub", "secrets"):
        (tmp_path / folder).mkdir()
    (tmp_path / "base.yaml").write_text("config: { synth: { voices: 2, cutoff: 1 kHz } }\n")
    (tmp_path / "sub" / "voices.yaml").write_text("config: { synth: { voices: 3 } }\n")
    (tmp_path / "secrets" / "password").write_text("abc\n")
    (tmp_path / "several.yaml").write_text(sample("Several files", "yaml"))
    said = run_python(
        tmp_path,
        "import os\nos.environ['DB_HOST'] = 'host'",
        "with invivo.Runtime(watch='several.yaml') as runtime:",
        "    print(runtime.config('synth.voices'), runtime.config('synth.cutoff'))",
        "    print(runtime.config('database.password'))",
        "with invivo.Runtime() as runtime:",
        f"    tell('values.yaml', {sample('Values', 'yaml')!r})",
        "    print(runtime.config('synth.wave'), runtime.config('global.folder'))",
        f"    tell('variables.yaml', {sample('The environment', 'yaml')!r})",
        "    print(runtime.config('store.url'), runtime.config('synth.voices'))",
    )
    assert said == ["8 1 kHz", "abc", "saw /var/lib/synth", "postgres://app@host/synth 8"]


def test_traits_and_wiring(tmp_path: Path) -> None:
    said = run_python(
        tmp_path,
        "class Lead:",
        "    gain: float = invivo.tunable(1.0)",
        "    cutoff: float = invivo.tunable(1000.0, unit='Hz')",
        "    delay: float = invivo.tunable(0.0, unit='s')",
        "class Backend: ...\nclass Alsa(Backend): ...\nclass Jack(Backend): ...\nclass Session: ...",
        "class Wave: ...\nclass Saw(Wave): ...\nclass Noise(Wave): ...",
        "class Synth(invivo.Assembly, name='synth'):",
        "    @invivo.lazy_singleton\n    def lead(self) -> Lead:\n        return invivo.new(Lead)\n",
        "    @invivo.lazy_singleton\n    def saw(self) -> Saw:\n        return invivo.new(Saw)\n",
        "    @invivo.lazy_singleton\n    def noise(self) -> Noise:\n        return invivo.new(Noise)\n",
        textwrap.indent(sample("Choices", "python"), "    "),
        "audio, web = invivo.Assembly('audio'), invivo.Assembly('web')",
        "audio.lazy_singleton(Alsa, 'backend')\naudio.lazy_singleton(Jack, 'jack')\nweb.prototype(Session, 'session')",
        "runtime = invivo.Runtime()",
        "runtime.configure('synth.wave', 5)",
        "runtime.activate(Synth(), audio, web)",
        f"tell('traits.yaml', {sample('Traits', 'yaml')!r})",
        "lead = runtime['synth.lead']",
        "print(lead.gain, lead.cutoff, lead.delay)",
        "def show() -> None:",
        "    backend, wave = (type(runtime[key]).__name__ for key in ('audio.backend', 'synth.wave'))",
        "    print(backend, wave, runtime['web.session'] is runtime['web.session'])",
        "show()",
        f"tell('wiring.yaml', {sample('Wiring', 'yaml')!r})",
        "show()",
        "tell('wiring.yaml', '{}')",
        "show()",
    )
    assert said == ["0.5 1200.0 0.25", "Alsa Noise False", "Jack Saw True", "Alsa Noise False"]


# ---- C and C++ ------------------------------------------------------------------------------------------------------

C = """
#include <invivo/invivo.h>
#include <stdio.h>
#include <string.h>

static invivo_runtime runtime;
static invivo_error *error;
static void check(invivo_status status) {
    if (status) puts(invivo_error_text(error));
    invivo_error_release(error);
    error = NULL;
}
static void tell(const char *name, const char *text) {
    invivo_changes changes;
    check(invivo_changes_open(runtime, &changes, &error));
    check(invivo_changes_document(changes, name, text, strlen(text), &error));
    check(invivo_changes_commit(changes, &error));
}
"""


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def fields() -> str:
    """The description of the fields, which C and C++ share."""
    return sample("Typed settings", "cpp").partition("\n\n")[0]


def test_c(tmp_path: Path) -> None:
    (tmp_path / "sample.c").write_text(
        C
        + "typedef struct audio audio;\n"
        + fields()
        + "\nint main(void) {\n    invivo_changes changes;\n    bool is_secret;\n"
        + "    check(invivo_runtime_open(&runtime, NULL, &error));\n"
        + '    tell("a.yaml", "config: { audio: { rate: 44.1 kHz, voices: 8 }, tls: { key: 5 } }");\n'
        + sample("Typed settings", "c")
        + '    printf("%g, %d voices\\n", read->rate, (int)read->voices);\n    invivo_view_end(view);\n'
        + "    check(invivo_changes_open(runtime, &changes, &error));\n"
        + sample("Secrets", "c")
        + "    check(invivo_changes_commit(changes, &error));\n"
        + '    check(invivo_config_is_secret(runtime, "tls.key", &is_secret, &error));\n'
        + '    puts(is_secret ? "secret" : "shown");\n'
        + "    check(invivo_runtime_close(runtime, &error));\n    return 0;\n}\n"
    )
    assert printed(compile_with(["cc", "-std=gnu11"], "sample.c", tmp_path), tmp_path) == ["44100, 8 voices", "secret"]


def test_cpp(tmp_path: Path) -> None:
    declared, _, bound = sample("Typed settings", "cpp").partition("\n\n")
    secret, _, declares = sample("Secrets", "cpp").partition("\n")
    (tmp_path / "sample.cpp").write_text(
        "#include <invivo/invivo.hpp>\n#include <cstdio>\n"
        + declared
        + "\nstruct database { char password[32]; };\nint main() {\n    invivo::runtime runtime;\n"
        + "    auto tell = [&](const char *name, const char *text) {\n"
        + "        try {\n            invivo::changes(runtime.raw()).document(name, text).commit();\n"
        + "        } catch (const invivo::error &error) {\n            std::puts(error.what());\n        }\n    };\n"
        + '    tell("a.yaml", "config: { audio: { voices: 8 }, database: { password: abc }, tls: { key: 5 } }");\n'
        + sample("Rules", "cpp")
        + f'    tell("tuning.yaml", {quoted(sample("Rules", "yaml"))});\n'
        + bound
        + '    std::printf("%g\\n", runtime.settings<audio>("Audio").rate);\n'
        + '    tell("b.yaml", "config:\\n  audio:\\n    rate: 5 Hz\\n");\n'
        + "    {\n"
        + secret
        + "\n"
        + declares
        + f'    tell("database.yaml", {quoted(sample("Secrets", "yaml", 1))});\n'
        + '    runtime.add_rule("key fits", {"tls.key"}, [](const invivo::rule_values &values) {\n'
        + "        return values.get<double>(0) == 5;\n    });\n"
        + f'    tell("tls.yaml", {quoted(sample("Secrets", "yaml", 2))});\n'
        + "    }\n}\n"
    )
    compiler = ["c++", "-std=c++17", "-Wno-missing-field-initializers"]
    said = printed(compile_with(compiler, "sample.cpp", tmp_path), tmp_path)
    assert said[0].startswith(sample("Rules", "").partition(" (because")[0]), said
    assert said[1] == "48000"
    assert re.match(r"a\.yaml:1:28: config\.audio\.voices: .* \(because too many voices\)", said[2]), said
    expected = sample("Secrets", "").splitlines()
    expected[0] += " of at most 31 bytes"  # the field is an array
    assert said[3:] == expected


def test_swift(tmp_path: Path) -> None:
    source = (
        'import Invivo\n\nclass Wave: @unchecked Sendable { var name: String { "wave" } }\n'
        'final class Saw: Wave, @unchecked Sendable { override var name: String { "saw" } }\n'
        "final class Synth: Assembly {\n    let saw = lazySingleton { (_: Resolver) in Saw() }\n"
        + textwrap.indent(sample("Choices", "swift"), "    ")
        + "}\n\nlet runtime = try Runtime()\n"
        "func tell(_ name: String, _ text: String) throws {\n"
        "    do { try runtime.changes { try $0.document(name, text) } } catch { print(error) }\n}\n"
        'try tell("a.yaml", "config: { audio: { rate: 8 }, database: { password: abc }, tls: { key: 5 } }")\n'
        + sample("Rules", "swift")
        + f'try tell("tuning.yaml", {quoted(sample("Rules", "yaml"))})\n'
        + sample("Typed settings", "swift")
        + "print(try runtime.settings(Audio.self).rate)\n"
        + 'try tell("b.yaml", "config:\\n  audio:\\n    rate: 0\\n")\n'
        + "struct Database: Decodable, Sendable { var password: String }\n"
        + sample("Secrets", "swift")
        + 'print(try runtime.isSecret("database.password"), try runtime.isSecret("tls.key"))\n'
        + 'try runtime.configure("synth.wave", "synth.saw")\n'
        + "print(try runtime.activate(Synth()).wave().name)\ntry runtime.close()\n"
    )
    said = printed([str(swift_program(source, tmp_path))], tmp_path)
    assert said[0].endswith(sample("Rules", "").strip()), said
    assert said[1] == "8"
    assert re.search(r"b\.yaml:3:11: config\.audio\.rate: .*the rate is not positive", said[2]), said
    assert said[3:] == ["true true", "saw"]
