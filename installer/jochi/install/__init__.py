"""Installs, upgrades and removes the engine (DESIGN §3, §5, §6)."""

from jochi.install.install import InstallResult, install
from jochi.install.uninstall import UninstallResult, uninstall

__all__ = ["InstallResult", "UninstallResult", "install", "uninstall"]
