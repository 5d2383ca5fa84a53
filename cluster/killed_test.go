package cluster

import (
	"io"
	"os"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/internal/testing/killed"
)

// killedOut names the output of which another process, in TestKilledChild, makes a part.
const killedOut = "WINNOW_TEST_KILLED_PART"

// TestKilledChild is not a test: it writes half of a part, says so, and waits to be killed.
func TestKilledChild(t *testing.T) {
	out, ok := os.LookupEnv(killedOut)
	if !ok {
		t.Skip("only run by TestKilled")
	}
	_, err := writeShardPart(t.Context(), location.At(out), header(t, 2, 3), func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("x\n", 1<<16)); err != nil {
			return err
		}
		return killed.Halfway()
	})
	t.Fatal("continued after half of the part:", err)
}

// A process that is killed in the middle of its part leaves no part. The same command then makes the same part as
// without the kill.
func TestKilled(t *testing.T) {
	out := filled(t, 3)
	second := Path(out, 2, 3).Path()
	want, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		killed.Child(t, "TestKilledChild", killedOut+"="+out.String())
		w, err := lookForParts(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		if again := w.listAgain(); len(again) != 1 || again[0] != 2 || w.Parts[1].State != Missing {
			t.Fatalf("found %v, %+v", again, w.Parts[1])
		}
	}
	if m, err := writeShardPart(t.Context(), out, header(t, 2, 3), content(strings.Repeat("x\n", 2))); err != nil ||
		m.Complete {
		t.Fatal(m, err)
	}
	if got, err := os.ReadFile(second); err != nil || string(got) != string(want) {
		t.Errorf("found %q, %v, expected %q", got, err, want)
	}
	w, err := lookForParts(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
