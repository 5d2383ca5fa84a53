package inspect

import (
	"context"
	"fmt"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/lookup"
	"winnow/losses"
	"winnow/run/folder"
	"winnow/train"
)

// runProxies are the proxies of a run's last state and the head of that state, for ProxySim and SubCenter.
type runProxies struct {
	param   *features.Param
	head    *head.Head
	store   *features.Store // of the network of that state
	classes []string        // of the training, by number
	numbers map[int]int     // the dataset's class ids → numbers of the training
}

// numberAsTrained returns labels as the training numbers them.
func (p *runProxies) numberAsTrained(labels []int) []int {
	out := make([]int, len(labels))
	for i, label := range labels {
		out[i] = p.numbers[label]
	}
	return out
}

// proxiesToJudgeBy returns nil if the run's filter uses no proxies or another scorer is asked for. If the proxies
// do not fit the images, it returns an error when they are asked for, else nil and a note.
func proxiesToJudgeBy(ctx context.Context, r *folder.Run, o auditing) (*runProxies, error) {
	entry, err := filters.Find(r.Config.Filter.Scorer)
	if err != nil || !entry.NeedsProxy || o.Scorer != "" && o.Scorer != entry.Name {
		return nil, nil
	}
	p, err := readProxies(ctx, r)
	if err != nil && o.Scorer != "" {
		return nil, fmt.Errorf("audit: scorer %s: the proxies of %s cannot be used: %w", entry.Name, r.Dir, err)
	}
	if err != nil {
		o.Note("the proxies of the run cannot be used: %v", err)
		return nil, nil
	}
	return p, nil
}

// readProxies reads the proxies from the checkpoint. It refuses training images whose classes are not those of the run.
func readProxies(ctx context.Context, r *folder.Run) (*runProxies, error) {
	set, _, err := lookup.Stored(r.Manifest, r.Store, datasets.Train)
	if err != nil {
		return nil, err
	}
	p := &runProxies{numbers: map[int]int{}}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(set.Labelled().Labels))) {
		p.numbers[id] = len(p.classes)
		p.classes = append(p.classes, r.Manifest.Classes[id])
	}
	facts, err := folder.ReadFacts(r.Dir)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(facts.Classes, p.classes) {
		return nil, fmt.Errorf("the run was trained on %d classes, and the manifest's %d training classes differ",
			len(facts.Classes), len(p.classes))
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
		return nil, fmt.Errorf("no loss of the run has proxies")
	}
	p.head, p.store, err = r.LastState(ctx)
	return p, err
}
