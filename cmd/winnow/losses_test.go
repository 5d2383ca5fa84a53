package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"winnow/cmd/winnow/catalogs"
	"winnow/losses"
)

func TestLossesCommand(t *testing.T) {
	for _, e := range losses.Catalog {
		text := mustRun(t, "winnow losses "+e.Name)
		for _, s := range e.Settings {
			if !strings.Contains(text, s.Doc) {
				t.Errorf("winnow losses %s does not describe setting %s:\n%s", e.Name, s.Name, text)
			}
			for i, doc := range s.Each {
				if !strings.Contains(text, s.Choices[i]) || !strings.Contains(text, doc) {
					t.Errorf("winnow losses %s does not describe %s as a value of %s", e.Name, s.Choices[i], s.Name)
				}
			}
		}
		if !strings.Contains(text, e.Formula) {
			t.Errorf("winnow losses %s does not show the formula", e.Name)
		}
	}
	var list []catalogs.Loss
	if err := json.Unmarshal([]byte(mustRun(t, "winnow losses --json")), &list); err != nil ||
		len(list) != len(losses.Catalog) {
		t.Errorf("%d entries as JSON (%v), expected %d", len(list), err, len(losses.Catalog))
	}
	if mustRun(t, "winnow losses Soft-Triple") != mustRun(t, "winnow losses soft_triple") {
		t.Error("hyphens and capitals change the loss")
	}
	var stdout, stderr bytes.Buffer
	if code := execute(context.Background(), []string{"winnow", "losses", "nonsense"}, &stdout, &stderr); code != 2 ||
		!strings.Contains(stderr.String(), `loss "nonsense" is unknown: known are contrastive`) {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}
