"""Procedures: templates in, Cypher that a reviewer can paste into a browser out (DESIGN §6)."""

from jochi.rendering.procedure import Procedure, render_all, render_for_label, render_one

__all__ = ["Procedure", "render_all", "render_for_label", "render_one"]
