// Package winnow is the overview of a library that trains image embeddings on noisy labels and finds label errors. The
// package contains only this list of packages, in the order in which an image passes through them, and examples, which
// run as tests.
//
//	datasets            images and their labels; noise models; readers of published datasets and other tools' files
//	backbone            converts image files to vectors; backbone/ort runs networks with ONNX Runtime, the only cgo;
//	                    backbone/graph: ONNX models as data, and a network's derivative as another network
//	features            labelled vectors ([winnow/features.Set], used everywhere) and their stores
//	losses              losses of embeddings and their gradients
//	filters             detect wrong labels in a batch during training
//	head                vectors become embeddings on the unit sphere
//	train               the training loop; train/peers and train/selective: other methods for noisy labels
//	run                 trains a head from a configuration (run/config) and data, and writes a folder (run/folder)
//	eval                retrieval, clusters, classifiers on embeddings
//	audit               finds label errors in a whole set; audit/suspects: the list on disk
//	report              charts and pages; report/review: the page on which people decide about suspects
//	search              the nearest of many stored vectors
//	models              known networks, heads on disk, both as one ONNX file; models/architecture: new networks
//	papers              the settings, tables and bounds of five papers
//
// The main functions:
//
//	label errors        audit.Run(ctx, set, audit.Options{Whiten: true})
//	a trained head      run.Train(ctx, config.Default(), run.Input{Data: &data}, run.Options{}), data of run.NewData
//	fine-tuning         run.Train(ctx, cfg, run.Input{}, run.Options{Dir: "run"}) with cfg.Finetune.Weights = "all"
//	evaluation          eval.Retrieve(ctx, embedded, nil, eval.RetrievalOptions{})
//	one loss            losses.New("circle", nil, losses.Env{Dim: d, Classes: n}), then Eval(&grad, set, nil)
//	neighbours          eval.Nearest(ctx, queries, &set, 10, 0)
//	… in an index       search.Nearest(ctx, index, queries, 10, nil)
//	one ONNX file       models.Join(backbone, head, nil)
//
// By default, gonum computes matrix products in plain Go. ONNX Runtime computes them ten to twenty times as fast,
// without a call, if its library is found (winnow runtime install, or $WINNOW_ORT_LIB) and the program links it.
// Programs that import run or report link it; other programs need
//
//	import _ "winnow/backbone/ort"
//
// ort.Doctor returns which library is used and why. The other packages build without cgo.
package winnow
