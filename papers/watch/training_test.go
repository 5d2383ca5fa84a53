package watch

import (
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/run"
)

// Corrected labels are not what is compared with the truth.
func TestFollowRefusesCorrectedLabels(t *testing.T) {
	plan := run.Plan{Steps: 10}
	plan.Config.Correct.Visits = 3
	when := func(run.Plan) ([]int, int) { return nil, 1 }
	var o run.Options
	Follow(&o, &datasets.Dataset{}, when)
	if err := o.Begun(plan); err == nil || !strings.Contains(err.Error(), "correct.visits: found 3 beside the filter's accuracy") {
		t.Error(err)
	}
	var other run.Options
	if seen := Follow(&other, nil, when); other.Begun(plan) != nil || seen.Filter != nil || seen.Steps != 10 {
		t.Errorf("found %+v", seen)
	}
}
