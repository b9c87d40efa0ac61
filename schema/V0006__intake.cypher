// What intake has counted of each label that apps write without us.
CREATE CONSTRAINT jochi_intake_label IF NOT EXISTS FOR (i:JochiIntake) REQUIRE i.label IS UNIQUE;
