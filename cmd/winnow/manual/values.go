package manual

import (
	"slices"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/backbone"
	"winnow/datasets/published"
	"winnow/eval"
	"winnow/filters"
	"winnow/filters/noiserate"
	"winnow/losses"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/inspect"
	"winnow/run/recipes"
)

// values are the possible values of a flag or an argument.
type values struct {
	list           func() []candidate
	many           bool // separated by commas
	files, folders bool
}

// valuesOf returns the values of a command's flag or, by its number from 1, argument: "train", "filter".
func valuesOf(command, name string) (values, bool) {
	if v, ok := known[command+" "+name]; ok {
		return v, true
	}
	v, ok := known[name]
	return v, ok
}

// known are the values by flag or, if a command has its own, by command and flag or argument.
var known = map[string]values{
	"augment":            {list: augmentations},
	"channels":           words("RGB", "BGR", "L"),
	"cudnn-search":       words("heuristic", "exhaustive", "default"),
	"device":             words("cpu", "cuda", "auto"),
	"dtype":              words("float32", "float16"),
	"filter":             {list: or(filterNames, "none", "keep every label")},
	"init":               words("whiten", "random"),
	"interpolation":      words("bilinear", "bicubic", "lanczos"),
	"loss":               {list: lossTerms, many: true},
	"metrics":            {list: or(metricNames, "all", "every metric"), many: true},
	"model":              {list: modelNames, files: true},
	"noise":              words(run.NoiseModels()...),
	"preset":             words(models.Presets()...),
	"recipe":             {list: recipeNames},
	"resize":             words(backbone.Fits()...),
	"scorer":             {list: scorers},
	"screen":             {list: or(judgeNames, "none", "use every label")},
	"split":              {list: listed("train", "validation", "test", "query", "gallery", "all"), many: true},
	"view":               words("center", "mean"),
	"audit model":        {list: modelNames, files: true, many: true},
	"data corrupt count": words("independent", "exact", "per-class"),
	"data import by":     words("class", "image"),
	"data import format": words("auto", "folders", "classes", "boxes", "csv", "tsv", "jsonl", "prism", "coco",
		"labelstudio", "fiftyone", "webdataset", "parquet"),
	"data import human":    words("aggre", "worse", "random1", "random2", "random3"),
	"data import preset":   {list: dataSets},
	"data import protocol": words("official", "half", "prism", "usual", "coarse"),
	"data import split":    {},
	"extract decoder":      words("exact", "fast"),
	"eval fit":             {list: listed("train", "gallery")},
	"map color":            words("label", "true", "split", "score", "suspect"),
	"map method":           words("tsne", "pca"),
	"models new arch":      {list: listed(architecture.Names()...), files: true},
	"noise method":         words(append(noiserate.Methods(), "all")...),
	"review format":        words("manifest", "csv", "imagefolder", "fiftyone", "labelstudio", "cleanlab"),
	"retrieve choose":      words("random", "worst"),
	"train finetune":       words("all", "none"),
	"train method":         words(config.Methods()...),
	"sweep finetune":       words("all", "none"),
	"sweep method":         words(config.Methods()...),
	"audit finetune":       words("all"),

	"completion 1":           words(shells...),
	"losses 1":               {list: lossNames},
	"metrics 1":              {list: metricNames},
	"models architectures 1": words(architecture.Names()...),
	"models get 1":           {list: fetched},
	"models remove 1":        {list: modelNames},
	"models show 1":          {list: modelNames, files: true},
	"filters 1":              {list: filterNames},
	"recipes 1":              {list: recipeNames},
	"reproduce 1":            {list: studyNames},
}

// or adds a word to a list.
func or(list func() []candidate, word, help string) func() []candidate {
	return func() []candidate { return append(list(), candidate{word, help}) }
}

func words(list ...string) values { return values{list: listed(list...)} }

func listed(list ...string) func() []candidate {
	return func() []candidate {
		out := make([]candidate, len(list))
		for i, w := range list {
			out[i].Text = w
		}
		return out
	}
}

func each[E any](list []E, entry func(E) candidate) []candidate {
	out := make([]candidate, len(list))
	for i, e := range list {
		out[i] = entry(e)
		out[i].Help = oneLine(out[i].Help)
	}
	return out
}

func lossNames() []candidate {
	return each(losses.Catalog, func(e losses.Entry) candidate { return candidate{e.Name, e.Title} })
}

// lossTerms returns the losses as winnow train --loss takes them.
func lossTerms() []candidate {
	list := lossNames()
	for _, e := range losses.Catalog {
		if e.Against == losses.Both {
			list = append(list, candidate{e.Name + ":bank", "against the memory bank"})
		}
	}
	return list
}

func filterNames() []candidate {
	return each(filters.Catalog, func(e filters.Entry) candidate { return candidate{e.Name, e.Title} })
}

func metricNames() []candidate {
	return each(eval.Catalog, func(e eval.Entry) candidate { return candidate{e.Name, e.Title} })
}

func judgeNames() []candidate {
	return each(judges.Catalog, func(j judges.Judge) candidate { return candidate{j.Name, j.Title} })
}

// scorers returns those of winnow audit.
func scorers() []candidate {
	return each(inspect.Scorers(), func(name string) candidate { return candidate{name, audit.Named(name).Title} })
}

func recipeNames() []candidate {
	return each(recipes.List(), func(r recipes.Recipe) candidate { return candidate{r.Name, r.Title} })
}

func augmentations() []candidate {
	return each(backbone.Recipes(), func(r backbone.Recipe) candidate { return candidate{r.Name, r.About} })
}

func dataSets() []candidate {
	return each(published.Catalog(), func(p published.Preset) candidate { return candidate{p.Name, p.Title} })
}

// studyNames returns none if the studies cannot be read: completions have no errors.
func studyNames() []candidate {
	list, _ := studies.List()
	return each(list, func(s studies.Study) candidate { return candidate{s.Name, s.Title} })
}

// fetched returns the backbones that winnow models get downloads.
func fetched() []candidate {
	r, err := models.OpenDefault()
	if err != nil {
		return nil
	}
	return each(slices.DeleteFunc(r.Entries(), func(e models.Entry) bool {
		pub, ok := e.Published()
		return !ok || len(pub.Places) == 0
	}), func(e models.Entry) candidate { return candidate{e.Name, e.Source} })
}

// modelNames returns those in the user's registry, none if it cannot be read.
func modelNames() []candidate {
	r, err := models.OpenDefault()
	if err != nil {
		return nil
	}
	return each(r.Entries(), func(e models.Entry) candidate { return candidate{e.Name, e.Source} })
}
