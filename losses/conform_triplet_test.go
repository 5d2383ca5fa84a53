package losses

import "maps"

// tripletVariants lists combinations of the triplet loss's settings that settingVariants does not cover.
var tripletVariants = []map[string]any{
	{"select": "all", "distance": "l2", "reduction": "avg_nonzero"},
	{"select": "all", "smooth": true},
	{"select": "all", "smooth": true, "distance": "l2", "margin": 0.05, "reduction": "sum"},
	{"select": "all", "swap": true},
	{"select": "all", "swap": true, "smooth": true, "distance": "l2"},
	{"select": "hard", "swap": true, "distance": "cosine"},
	{"select": "semihard_all", "smooth": true, "gap": 0.4},
	{"select": "easy", "gap": 0.1, "margin": 0.5},
	{"select": "batch_hard", "swap": true},
	{"select": "batch_hard", "smooth": true, "margin": 0.0, "distance": "l2"},
	{"select": "random_semihard", "swap": true, "distance": "l2"},
	{"select": "fixed_semihard", "swap": true, "distance": "l2", "smooth": true},
}

// companions lists the settings that a value needs in addition: without smooth, the hinge of an easy triplet is always
// 0.
var companions = map[string]map[string]any{
	"triplet select easy": {"smooth": true},
}

func withCompanions(entry, setting, word string) map[string]any {
	out := map[string]any{setting: word}
	maps.Copy(out, companions[entry+" "+setting+" "+word])
	return out
}

// tripletJumps reports whether the number of terms or the selected terms change with the distances. Then the
// value has jumps without a gradient, and only the slope of the sum over similarities can be checked.
func tripletJumps(l Loss) bool {
	s, ok := l.(*similarity)
	if !ok {
		return false
	}
	switch fn := s.fn.(type) {
	case *triplet:
		return fn.reduce == meanOfActive && !fn.smooth || fn.choose.take != takeAll && fn.choose.take != takeHardest
	case *rdml:
		return fn.reduce == meanOfActive
	}
	return false
}
