package decisions

import (
	"database/sql"
	"fmt"
)

// schemas are the statements that create the tables of each version from those of the version before.
var schemas = []string{`
CREATE TABLE images (
	path TEXT PRIMARY KEY, given TEXT NOT NULL, action TEXT NOT NULL, label TEXT NOT NULL, at INTEGER NOT NULL,
	version INTEGER NOT NULL, change INTEGER NOT NULL,
	batch INTEGER NOT NULL -- that made the decision; 0: none
) WITHOUT ROWID;
CREATE TABLE batches (
	batch INTEGER PRIMARY KEY, tab TEXT NOT NULL, at INTEGER NOT NULL,
	state INTEGER NOT NULL -- 0 done, 1 undone, 2 done for good, 3 undone for good
);
CREATE INDEX batches_of_tab ON batches (tab, state, batch);
CREATE TABLE history (
	n INTEGER PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (batch), path TEXT NOT NULL,
	given TEXT NOT NULL, action TEXT NOT NULL, label TEXT NOT NULL, at INTEGER NOT NULL,
	before_given TEXT NOT NULL, before_action TEXT NOT NULL, before_label TEXT NOT NULL, before_at INTEGER NOT NULL,
	before_batch INTEGER NOT NULL
);
CREATE INDEX history_of_batch ON history (batch);
CREATE TABLE audits (
	sum TEXT PRIMARY KEY, name TEXT NOT NULL, images INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
);
`, `
CREATE TABLE images_by_reviewer (
	path TEXT NOT NULL, reviewer TEXT NOT NULL, given TEXT NOT NULL, action TEXT NOT NULL, label TEXT NOT NULL,
	note TEXT NOT NULL, at INTEGER NOT NULL, version INTEGER NOT NULL, change INTEGER NOT NULL, batch INTEGER NOT NULL,
	PRIMARY KEY (path, reviewer)
) WITHOUT ROWID;
INSERT INTO images_by_reviewer SELECT path, '', given, action, label, '', at, version, change, batch FROM images;
DROP TABLE images;
ALTER TABLE images_by_reviewer RENAME TO images;
ALTER TABLE batches ADD COLUMN reviewer TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN before_note TEXT NOT NULL DEFAULT '';
`, `
ALTER TABLE images ADD COLUMN sum INTEGER NOT NULL DEFAULT 0; -- of the other columns, as of the tables below
ALTER TABLE history ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN sum INTEGER NOT NULL DEFAULT 0; -- of what never changes: not of the state
`, `
CREATE TABLE answers (
	n INTEGER PRIMARY KEY, path TEXT NOT NULL, reviewer TEXT NOT NULL, given TEXT NOT NULL, action TEXT NOT NULL,
	label TEXT NOT NULL, at INTEGER NOT NULL, change INTEGER NOT NULL, sum INTEGER NOT NULL DEFAULT 0
);
INSERT INTO answers (path, reviewer, given, action, label, at, change)
	SELECT path, reviewer, given, action, label, at, change FROM images ORDER BY change, path, reviewer;
CREATE TABLE questions (
	n INTEGER PRIMARY KEY, path TEXT NOT NULL, reviewer TEXT NOT NULL, change INTEGER NOT NULL, question TEXT NOT NULL,
	sum INTEGER NOT NULL
);
`, `
CREATE TABLE pictures (
	n INTEGER PRIMARY KEY, path TEXT NOT NULL,
	at INTEGER NOT NULL, -- what the image was from the decisions of this time on
	bytes INTEGER NOT NULL, modified INTEGER NOT NULL, content TEXT NOT NULL, sum INTEGER NOT NULL
);
CREATE INDEX pictures_of_path ON pictures (path, at);
`, `
CREATE TABLE tags (
	path TEXT NOT NULL, tag TEXT NOT NULL, batch INTEGER NOT NULL, -- that gave the tag
	sum INTEGER NOT NULL, PRIMARY KEY (path, tag)
) WITHOUT ROWID;
CREATE TABLE taggings (
	n INTEGER PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (batch), path TEXT NOT NULL, tag TEXT NOT NULL,
	given INTEGER NOT NULL, -- 1; 0: taken
	before_batch INTEGER NOT NULL, -- that had given a tag that is taken; 0: none
	sum INTEGER NOT NULL
);
CREATE INDEX taggings_of_batch ON taggings (batch);
`}

// upgradeTables brings tables of a version to the latest one; version 0 means there are none.
func upgradeTables(tx *sql.Tx, from int64) error {
	for _, schema := range schemas[from:] {
		if _, err := tx.Exec(schema); err != nil {
			return err
		}
	}
	if from > 0 && from < answered {
		if err := addSums(tx, from); err != nil {
			return err
		}
	}
	_, err := tx.Exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, len(schemas)))
	return err
}
