"""Types of settings that manifests name, and settings that a runtime or an application binds when it opens."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import invivo
from invivo._runtime.app import App

MODULE = """
import dataclasses

import invivo
import pydantic


@invivo.settings_type
@dataclasses.dataclass(frozen=True)
class Audio:
    rate: int
    device: str = "default"


@invivo.settings_type(name="web.Server")
class Server(pydantic.BaseModel):
    port: int = pydantic.Field(80, gt=0)


@invivo.component
class Player:
    def __init__(self, audio: Audio, server: Server) -> None:
        self.audio, self.server = audio, server
"""
MANIFEST = """
modules: { parts: parts.py }
settings: { audio: Audio, servers.main: { type: web.Server, name: main } }
components:
  synth.player: { type: Player, init: { audio: $settings:Audio, server: $settings:main } }
specs: [tuning.yaml]
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(MODULE)
    (tmp_path / "tuning.yaml").write_text("config:\n  audio: { rate: 8 }\n  servers: { main: { port: 90 } }\n")
    path = tmp_path / "app.yaml"
    path.write_text(MANIFEST)
    return path


def test_a_manifest_binds_classes_of_its_modules(manifest: Path) -> None:
    with App(manifest, log_level="silent") as app:
        player = app.runtime["synth.player"]
        assert (player.audio.rate, player.audio.device, player.server.port) == (8, "default", 90)
        assert app.runtime.settings("Audio") is player.audio
        assert app.runtime.settings("main") is player.server
        app.runtime.configure("audio.rate", 9)
        assert app.runtime["synth.player"].audio.rate == 9
        with pytest.raises(invivo.WrongTypeError, match=r"config\.audio\.rate: expected a whole number"):
            app.runtime.configure("audio.rate", "fast")


def test_a_check_reads_the_sections(manifest: Path) -> None:
    assert '"settings:Audio"' in App.check(manifest)
    (manifest.parent / "tuning.yaml").write_text("config:\n  audio: { raet: 8 }\n  servers: { main: { port: 0 } }\n")
    with pytest.raises(invivo.Error) as caught:
        App.check(manifest)
    text = str(caught.value)
    assert "tuning.yaml:2:12: config.audio.raet: Audio has no field 'raet'; did you mean 'rate'?" in text
    assert "tuning.yaml:3:28: config.servers.main.port: Input should be greater than 0" in text
    manifest.write_text(MANIFEST.replace("web.Server", "web.Sever"))
    with pytest.raises(
        invivo.NotFoundError, match=r"no module has a settings type 'web\.Sever'; did you mean 'web\.Server'"
    ):
        App.check(manifest)


def test_a_class_is_injected_by_its_type(manifest: Path) -> None:
    manifest.write_text(
        MANIFEST.replace("$settings:Audio", "{ $type: Audio }").replace("$settings:main", "{ $type: Server }")
    )
    with App(manifest, log_level="silent") as app:
        assert app.runtime["synth.player"].server.port == 90


@dataclasses.dataclass(frozen=True)
class Video:
    width: int = 640


def test_an_application_binds_settings_when_it_opens(manifest: Path) -> None:
    with App(manifest, settings={"video": Video}, log_level="silent") as app:
        assert app.runtime.settings(Video) == Video(640)
        app.runtime.configure("video.width", 800)
        assert app.runtime.settings(Video).width == 800
    manifest.parent.joinpath("tuning.yaml").write_text("config: { audio: { rate: 8 }, video: { with: 1 } }\n")
    with pytest.raises(invivo.PropertyError, match="Video has no field 'with'; did you mean 'width'"):
        App(manifest, settings={"video": Video}, log_level="silent")


def test_a_runtime_binds_settings_when_it_opens(tmp_path: Path) -> None:
    path = tmp_path / "tuning.yaml"
    path.write_text("config: { video: { width: 320 }, screens: { left: { width: 1 } } }\n")
    sections = {"video": Video, "screens": dict[str, Video]}
    with invivo.Runtime(watch=path, settings=sections, log_level="silent") as runtime:
        assert runtime.settings(Video).width == 320
        assert runtime[Video].width == 320
        assert runtime.settings(dict[str, Video])["left"] == Video(1)
    path.write_text("config: { video: { width: wide } }\n")
    with pytest.raises(invivo.WrongTypeError, match=r"config\.video\.width: expected a whole number"):
        invivo.Runtime(watch=path, settings={"video": Video}, log_level="silent")


def test_a_type_has_one_name() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.add_settings_type(Video)
        with pytest.raises(invivo.ExistsError, match="there is a settings type with the name 'Video'"):
            runtime.add_settings_type(Video)
        runtime.add_settings_type(Video, name="other")
