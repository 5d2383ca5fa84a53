package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/losses"
	"winnow/run"
	"winnow/run/folder"
	"winnow/train"
)

// runProxies is what ProxySim judges by: the proxies of a run's last state and the head of the same state.
type runProxies struct {
	param   *features.Param
	head    *head.Head
	store   *features.Store // of the network of that state
	classes []string        // of the training, by their number
	numbers map[int]int     // the dataset's class ids → numbers of the training
}

// number is labels as the training counts them.
func (p *runProxies) number(labels []int) []int {
	out := make([]int, len(labels))
	for i, label := range labels {
		out[i] = p.numbers[label]
	}
	return out
}

// proxiesToAuditBy is nil where the run's filter judges by something else, where --scorer names another, and, with a
// note, where the proxies do not fit what is audited; an error where --scorer asks for them.
func proxiesToAuditBy(c *cli.Context, r *openedRun) (*runProxies, error) {
	entry, err := filters.Find(r.Config.Filter.Scorer)
	own := err == nil && entry.NeedsProxy
	asked := own && c.String("scorer") == entry.Name
	if !own || c.IsSet("scorer") && !asked {
		return nil, nil
	}
	p, err := r.proxies(c)
	if err != nil {
		if asked {
			return nil, fmt.Errorf("audit: --scorer %s: the proxies of %s cannot be used: %w", entry.Name, r.Dir, err)
		}
		note(c, "the proxies of the run cannot be used: %v", err)
		return nil, nil
	}
	return p, nil
}

// proxies reads them from the checkpoint, if the training images still have the classes that were trained.
func (r *openedRun) proxies(c *cli.Context) (*runProxies, error) {
	data, err := run.Join(r.Manifest, r.Store)
	if err != nil {
		return nil, err
	}
	facts, err := folder.ReadFacts(r.Dir)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(facts.Classes, data.Classes) {
		return nil, fmt.Errorf("the run was trained on %d classes, and the manifest's %d train classes are others", len(facts.Classes), len(data.Classes))
	}
	p := &runProxies{classes: data.Classes, numbers: map[int]int{}}
	for i, id := range data.Train.IDs {
		if number := data.Train.Labels[i]; number != features.Unlabelled {
			p.numbers[r.Manifest.Samples[id].Label] = number
		}
	}
	list, err := train.ReadLossParams(r.Dir)
	if err != nil {
		return nil, err
	}
	for i, l := range r.Config.Losses {
		if entry, err := losses.Find(l.Name); err == nil && entry.Proxied {
			name := fmt.Sprintf("loss.%d.proxies", i)
			at := slices.IndexFunc(list, func(q *features.Param) bool { return q.Name == name })
			if at < 0 || list[at].Rows%len(p.classes) != 0 {
				return nil, fmt.Errorf("%s holds no %q of %d classes", train.CheckpointFile, name, len(p.classes))
			}
			p.param = list[at]
			break
		}
	}
	if p.param == nil {
		return nil, fmt.Errorf("no loss of the run has any")
	}
	p.head, p.store, err = r.LastState(c.Context)
	return p, err
}
