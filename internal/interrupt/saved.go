package interrupt

import (
	"slices"
	"strings"
	"time"
)

// patience is how long a command that keeps nothing of what it has done may take to end after the first signal. A system
// call or one large product can last longer than people wait; files are written beside their place, so that ending the
// process leaves them whole.
const patience = 1500 * time.Millisecond

// Patience returns how long a command may take to end: as long as it needs, 0, where it saves what is done. args begin with
// its name.
func Patience(args []string) time.Duration {
	if Saved(args) != "" {
		return 0
	}
	return patience
}

// Saved says what a command leaves behind when it is interrupted, for those that can go on. args begin with its name.
func Saved(args []string) string {
	flagged := func(flag string) bool {
		return slices.ContainsFunc(args, func(a string) bool { // one dash will do
			name, is := strings.CutPrefix(a, "-")
			return is && strings.HasPrefix(strings.TrimPrefix(name, "-"), flag)
		})
	}
	if args[0] == "export" && flagged("to") {
		return "; the points so far are in the collection: the same command goes on with it"
	}
	switch args[0] {
	case "train":
		return "; the work so far is saved: --resume goes on with it"
	case "audit":
		if slices.ContainsFunc([]string{"labels", "manifest", "features", "probs"}, flagged) { // nothing is made of images
			return ""
		}
		return "; any features made so far are kept: the same command goes on with them"
	case "extract", "reproduce", "sweep":
		return "; the work so far is saved: the same command goes on with it"
	case "models":
		if slices.Contains(args, "get") {
			return "; what has come is kept: the same command goes on with it"
		}
	case "index":
		return "; the images so far are in the index: --add goes on with it"
	}
	return ""
}
