package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
	"winnow/models"
	"winnow/run/config"
	"winnow/train"
)

// buildConfig builds the trainer's configuration except the encoder, the groups and the observers.
func (r *Training) buildConfig() error {
	cfg, epoch, classes := r.Config, r.Epoch, len(r.Data.Classes)
	r.loop = train.Config{
		Sampler: r.sampler, Steps: cfg.Length.In(epoch), Clip: cfg.Clip,
		ValidateEvery: max(cfg.Validation.Every.In(epoch), 1), CheckpointEvery: cfg.Checkpoint.In(epoch),
		LogEvery: cfg.LogEvery, DiagnoseEvery: cfg.Diagnostics.Every.In(epoch),
		Identity: r.listIdentity(), Clock: r.clock, Now: time.Now,
	}
	r.loop.Trusted = r.Data.Trusted
	if r.Data.Validation.Len() > 0 {
		r.loop.Patience = cfg.Validation.Patience
	}
	if cfg.Bank.Size > 0 {
		r.loop.Bank = features.NewBank(cfg.Bank.Size, cfg.Head.Out, classes)
	}
	env := filters.Env{Dim: cfg.Head.Out, Classes: classes}
	for i, l := range cfg.Losses {
		term, err := r.buildTerm(l, i)
		if err != nil {
			return err
		}
		if proxied, ok := term.Loss.(losses.Proxied); ok && env.Proxies == nil {
			env.Proxies, env.PerClass = proxied.Proxies()
		}
		r.loop.Terms = append(r.loop.Terms, term)
	}
	if cfg.Filter.Scorer != config.NoFilter {
		filter, err := filters.New(cfg.Filter.In(epoch), env)
		if err != nil {
			return err
		}
		r.loop.Filter = filter
	}
	return nil
}

// buildGroups returns a parameter group with its own solver for each of head, losses and backbone. Parameters of the
// encoder that do not belong to the head belong to the backbone.
func (r *Training) buildGroups(encoder train.Encoder) (groups []train.Group, err error) {
	var ofLosses, ofBackbone []*features.Param
	for _, term := range r.loop.Terms {
		ofLosses = append(ofLosses, term.Params...)
	}
	for _, p := range encoder.Params() {
		if !slices.Contains(r.head.Params(), p) {
			ofBackbone = append(ofBackbone, p)
		}
	}
	for _, g := range []train.Group{
		{Name: train.HeadGroup, Params: r.head.Params(), Start: 1},
		{Name: train.LossGroup, Params: ofLosses, Start: 1},
		{Name: train.BackboneGroup, Params: ofBackbone, Start: r.Config.Finetune.Start.In(r.Epoch) + 1},
	} {
		if len(g.Params) == 0 {
			continue
		}
		if g.Solver, g.Schedule, err = r.solverOf(g.Name, r.loop.Steps-g.Start+1); err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// buildTerm builds the loss at position i. The names of its parameters contain i, because two losses may share names.
func (r *Training) buildTerm(l config.Loss, i int) (train.Term, error) {
	loss, err := losses.New(l.Name, l.Settings, losses.Env{
		Dim: r.Config.Head.Out, Classes: len(r.Data.Classes), Views: r.Config.Sampler.Views > 1,
		Printed: r.Config.PaperVariant,
		Init:    train.Rand(r.Config.Seed, "loss "+l.Term(), 0), Step: r.clock.Source(r.Config.Seed, "loss "+l.Term()),
	})
	if err != nil {
		return train.Term{}, err
	}
	entry, err := losses.Find(l.Name)
	if err != nil {
		return train.Term{}, err
	}
	term := train.Term{Name: l.Term(), Loss: loss, Weight: l.Weight, Bank: l.Against == config.AgainstBank,
		Start: l.Start.In(r.Epoch) + 1, Unlabelled: entry.Unlabelled}
	if owner, ok := loss.(losses.Trainable); ok {
		term.Params = owner.Params()
		for _, p := range term.Params {
			p.Name = fmt.Sprintf("loss.%d.%s", i, p.Name)
		}
	}
	return term, nil
}

// listIdentity returns the settings and checksums that must not change when a stopped run resumes: every setting that
// changes the result, and the contents of the data, but not their paths.
func (r *Training) listIdentity() map[string]string {
	cfg, data := r.Config, r.Data
	id := config.Flatten(cfg)
	elsewhere := []string{"finetune.loss", "data.manifest", "data.root", "data.features", "data.model", "checkpoint",
		"diagnostics.every", "validation.hold_out"}
	unused := map[string]bool{
		"peers.": !cfg.HasPeers(), "selective.": !cfg.IsSelective(), "selfpaced.": !cfg.SelfPaced.On(),
		"paper_variant": !cfg.PaperVariant,
		"sampler.views": cfg.Sampler.Views <= 1, "finetune.refit": cfg.Finetune.Refit.N == 0,
	}
	maps.DeleteFunc(id, func(key, _ string) bool {
		for block, off := range unused {
			if off && strings.HasPrefix(key, block) {
				return true
			}
		}
		return slices.Contains(elsewhere, key)
	})
	if cfg.Finetune.On() {
		id["data.model"] = data.Key.Model
	}
	id[imagesKey], id["data.features"] = data.Sum, data.StoreSum
	if c := r.options.Checks; c != nil {
		id["data.decisions"] = c.Sum()
	}
	return id
}

// imagesKey is the key under which an identity holds the checksum of images and labels.
const imagesKey = "data.images"

// hashIdentity returns the SHA-256 sum of the identity. The heads of a run and its config.yaml contain this sum.
func (r *Training) hashIdentity() string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(r.loop.Identity)) {
		fmt.Fprintf(h, "%q: %q\n", key, r.loop.Identity[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// headMeta returns the metadata of a saved head: they identify the backbone whose features it was trained on.
func (r *Training) headMeta() models.HeadMeta {
	key := r.Data.Key
	return models.HeadMeta{
		ModelSHA256: key.Model, Output: key.Output, Preprocessing: key.Preprocessing,
		ConfigSHA256: r.hashIdentity(), Winnow: r.options.Host.Winnow, Seed: r.Config.Seed,
	}
}
