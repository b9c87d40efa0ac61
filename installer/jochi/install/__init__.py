"""Installs, upgrades and removes the engine (DESIGN §3, §5, §6): what must hold before, keeping runners away meanwhile, and
the optional triggers of intake."""
