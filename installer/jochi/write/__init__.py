"""How memories come in: remembered by an app, imported from files, enrolled where they are; and what each has from its first
moment."""
