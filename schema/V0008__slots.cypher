// Slots: what holds of a subject's attribute, and what held before.
// At most one fact is current: it alone has slot_key.
CREATE CONSTRAINT curated_slot_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.slot_key IS UNIQUE;
// A slot's facts in the order of (moment, key), which slot_place is in one text: so the one before and the one after are one seek each,
// also where thousands have the same moment.
CREATE INDEX curated_slot_place IF NOT EXISTS FOR (m:Curated) ON (m.slot_line, m.slot_place);
// Those alone that stand for a stretch: a stretch is found without its confirmations being read.
CREATE INDEX curated_slot_stands IF NOT EXISTS FOR (m:Curated) ON (m.slot_line, m.slot_stands);
CREATE INDEX curated_slot_due IF NOT EXISTS FOR (m:Curated) ON (m.slot_due);
// One node a slot, to be locked by; one record a fact that left its slot by being pruned, deleted once it is worked.
CREATE CONSTRAINT jochi_slot_name IF NOT EXISTS FOR (s:JochiSlot) REQUIRE s.name IS UNIQUE;
CREATE INDEX jochi_slot_change_key IF NOT EXISTS FOR (c:JochiSlotChange) ON (c.key);
