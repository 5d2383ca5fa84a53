package decisions

import (
	"database/sql"
	"fmt"
)

// version is the version of the tables that winnow writes, and oldest the oldest version that it reads. Older versions
// have additional tables, which are not used.
const (
	version = 8
	oldest  = 6
)

// schema creates the tables. The column sum is a checksum of the row's other columns, except the state of a batch.
const schema = `
CREATE TABLE images (
	path TEXT NOT NULL, reviewer TEXT NOT NULL, given TEXT NOT NULL, action TEXT NOT NULL, label TEXT NOT NULL,
	note TEXT NOT NULL, at INTEGER NOT NULL, version INTEGER NOT NULL, change INTEGER NOT NULL,
	batch INTEGER NOT NULL, -- the batch of the decision; 0: none, -1: none, and the image was moved
	sum INTEGER NOT NULL, PRIMARY KEY (path, reviewer)
) WITHOUT ROWID;
CREATE TABLE batches (
	batch INTEGER PRIMARY KEY, tab TEXT NOT NULL, at INTEGER NOT NULL, reviewer TEXT NOT NULL,
	state INTEGER NOT NULL, -- 0 done, 1 undone, 2 done and cannot be undone, 3 undone and cannot be redone
	sum INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX batches_of_tab ON batches (tab, state, batch);
CREATE TABLE history (
	n INTEGER PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (batch), path TEXT NOT NULL,
	given TEXT NOT NULL, action TEXT NOT NULL, label TEXT NOT NULL, note TEXT NOT NULL, at INTEGER NOT NULL,
	before_given TEXT NOT NULL, before_action TEXT NOT NULL, before_label TEXT NOT NULL, before_note TEXT NOT NULL,
	before_at INTEGER NOT NULL, before_batch INTEGER NOT NULL, sum INTEGER NOT NULL
);
CREATE INDEX history_of_batch ON history (batch);
CREATE TABLE pictures (
	n INTEGER PRIMARY KEY, path TEXT NOT NULL,
	at INTEGER NOT NULL, -- time of the first decision about this content
	bytes INTEGER NOT NULL, modified INTEGER NOT NULL, content TEXT NOT NULL, sum INTEGER NOT NULL
);
CREATE INDEX pictures_of_path ON pictures (path, at);
`

func createTables(tx *sql.Tx) error {
	_, err := tx.Exec(schema + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, version))
	return err
}
