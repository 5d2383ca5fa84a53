"""Makes the files of this folder: networks as torch exports them, without the values of their weights, and
the gradients that torch's autograd computes. Neither winnow nor its tests need the script; README.md describes
it. Run: python3 networks.py FOLDER [NAME[@SEED]...]   (torch 1.13, torchvision 0.14, onnx 1.12, numpy 1.24)
"""
import io, json, math, sys, warnings
import numpy as np, onnx, onnx.numpy_helper as nh, torch, torchvision
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
GAMMA, MASK, BUCKETS = 0x9E3779B97F4A7C15, (1 << 64) - 1, 16


# The formula: pseudo-random numbers that the Go tests compute as well.

def fnv(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = (h ^ b) * 0x100000001B3 & MASK
    return h


def bits(text, n):
    """n words of 64 bits: splitmix64 started at the FNV-1a hash of a text."""
    with np.errstate(over="ignore"):
        z = np.uint64(fnv(text)) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(GAMMA)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def drawn(text, dims, mean=0.0, spread=1.0):
    """Nearly normal numbers: each is the sum of the four 16-bit quarters of a word, rounded to float32."""
    z = bits(text, int(np.prod(dims)))
    quarters = sum((z >> np.uint64(s) & np.uint64(0xFFFF)).astype(np.float64) for s in (0, 16, 32, 48))
    h = (quarters - 131070) / 65536 * math.sqrt(3)
    return (mean + spread * h).astype(np.float32).reshape(dims)


def sketch(g):
    """16 signed sums: each entry is added to one sum, with a sign; up to 16 entries represent themselves."""
    g = g.reshape(-1)
    if len(g) <= BUCKETS:
        return g
    z = bits("sketch", len(g))
    sign = 1 - 2 * (z & np.uint64(1)).astype(np.float64)
    return np.bincount((z >> np.uint64(60)).astype(np.int64), g * sign, BUCKETS)


# Structure: selects the initializers whose values are removed, and how these values are drawn.

def role(tensor, uses, gain):
    """mean and spread of a weight, by its first use; gain is the variance that a convolution multiplies by"""
    op, at = uses[tensor.name]
    dims = list(tensor.dims)
    if op == "Conv" and at == 1:
        return 0, math.sqrt(gain / np.prod(dims[1:]))
    if op == "BatchNormalization":
        return [None, (1, 0.2), (0, 0.2), (0, 0.3), (1, 0.25)][at]
    if op == "LayerNormalization" and at == 1 or op == "Mul":
        return 1, 0.2
    if op == "Gemm" and at == 1:
        return 0, math.sqrt(1 / dims[1])
    if op == "MatMul":
        return 0, math.sqrt(2 / dims[0])
    if op == "Transpose":
        return 0, math.sqrt(2 / dims[1])
    if len(dims) == 3:
        return 0, 0.5  # class token, positions
    return 0, 0.1


def strip(model, gain):
    """Each floating-point initializer of more than one element becomes 'external', with a formula in place of a file."""
    g = model.graph
    uses = {}
    for n in g.node:
        for i, name in enumerate(n.input):
            uses.setdefault(name, (n.op_type, i))
    kept = [t for t in g.initializer if t.name in uses]
    del g.initializer[:]
    g.initializer.extend(kept)
    for t in g.initializer:
        if t.data_type == onnx.TensorProto.FLOAT and np.prod(t.dims) > 1:
            mean, spread = role(t, uses, gain)
            t.ClearField("raw_data"), t.ClearField("float_data")
            t.data_location = onnx.TensorProto.EXTERNAL
            t.external_data.add(key="location", value="drawn %r %r" % (float(mean), float("%.6g" % spread)))
    for n in g.node:
        n.doc_string = ""
    return model


def weights(model, seed):
    w = {}
    for t in model.graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            _, mean, spread = t.external_data[0].value.split()
            w[t.name] = drawn("%d %s" % (seed, t.name), list(t.dims), float(mean), float(spread))
        else:
            w[t.name] = nh.to_array(t)
    return w


# A small evaluator of ONNX on torch's operators, so that autograd differentiates exactly the exported graph.

class Evaluator:
    def __init__(self, model, dtype=torch.float32, state=None):
        """If state is given, BatchNormalization is in training mode and stores its new running statistics there."""
        self.g, self.dtype, self.state = model.graph, dtype, state

    def run(self, values, output, watch=None):
        v = dict(values)
        for n in self.g.node:
            a = {x.name: onnx.helper.get_attribute_value(x) for x in n.attribute}
            x = [v[i] if i else None for i in n.input]
            if watch is not None and n.op_type in ("Relu", "Clip", "MaxPool"):
                watch.append((n.op_type, x[0].detach(), a))
            if n.op_type == "BatchNormalization" and self.state is not None:
                mean, var = self.state[n.input[3]], self.state[n.input[4]] = x[3].clone(), x[4].clone()
                out = F.batch_norm(x[0], mean, var, x[1], x[2], True, 0.1, a.get("epsilon", 1e-5))
            else:
                out = getattr(self, n.op_type)(a, *x)
            v[n.output[0]] = out
        return v[output]

    @staticmethod
    def list(x):
        return [int(i) for i in x.reshape(-1)]

    def pads(self, a, x, value=0.0):
        p = a.get("pads", [0, 0, 0, 0])
        return F.pad(x, (p[1], p[3], p[0], p[2]), value=value)

    def Conv(self, a, x, w, b=None):
        return F.conv2d(self.pads(a, x), w, b, a.get("strides", 1), 0, a.get("dilations", 1), a.get("group", 1))

    def MaxPool(self, a, x):
        """The end is padded further where ceil_mode rounds up."""
        k, s, p = a["kernel_shape"], a.get("strides", [1, 1]), list(a.get("pads", [0, 0, 0, 0]))
        if a.get("ceil_mode", 0):
            for i in (0, 1):
                room = x.shape[2 + i] + p[i] + p[2 + i] - k[i]
                if room % s[i] and (room // s[i] + 1) * s[i] < x.shape[2 + i] + p[i]:
                    p[2 + i] += s[i] - room % s[i]
        return F.max_pool2d(self.pads({"pads": p}, x, -math.inf), k, s)

    def AveragePool(self, a, x):
        assert not any(a.get("pads", [0]))
        return F.avg_pool2d(x, a["kernel_shape"], a.get("strides", [1, 1]), ceil_mode=bool(a.get("ceil_mode", 0)))

    def LRN(self, a, x):
        return F.local_response_norm(x, a["size"], a.get("alpha", 1e-4), a.get("beta", 0.75), a.get("bias", 1.0))

    def BatchNormalization(self, a, x, w, b, mean, var):
        return F.batch_norm(x, mean, var, w, b, False, eps=a.get("epsilon", 1e-5))

    def LayerNormalization(self, a, x, w, b):
        assert a.get("axis", -1) == -1
        return F.layer_norm(x, x.shape[-1:], w, b, a.get("epsilon", 1e-5))

    def Gemm(self, a, x, w, b):
        return a.get("alpha", 1.0) * (x @ (w.T if a.get("transB") else w)) + a.get("beta", 1.0) * b

    def Clip(self, a, x, lo, hi):
        return torch.clamp(x, float(lo), float(hi))

    def Constant(self, a):
        t = torch.from_numpy(np.array(nh.to_array(a["value"])))
        return t.to(self.dtype) if t.dtype.is_floating_point else t

    def ConstantOfShape(self, a, shape):
        return torch.full(self.list(shape), nh.to_array(a["value"])[0].item()) if "value" in a else torch.zeros(self.list(shape))

    def Slice(self, a, x, start, end, axes=None, steps=None):
        for i, (s, e) in enumerate(zip(self.list(start), self.list(end))):
            axis = self.list(axes)[i] if axes is not None else i
            assert steps is None or self.list(steps)[i] == 1
            e = min(e, x.shape[axis]) if e >= 0 else e + x.shape[axis]
            x = x.narrow(axis, s, e - s)
        return x

    def Unsqueeze(self, a, x, axes=None):
        for i in sorted(a.get("axes") or self.list(axes)):
            x = x.unsqueeze(i)
        return x

    def Gather(self, a, x, i):
        axis = a.get("axis", 0)
        out = x.index_select(axis, i.reshape(-1) % x.shape[axis])
        return out.reshape(x.shape[:axis] + i.shape + x.shape[axis + 1:])

    def Reshape(self, a, x, to):
        return x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(self.list(to))])

    def Cast(self, a, x):
        return x.to({1: self.dtype, 7: torch.int64, 9: torch.bool}[a["to"]])

    def Div(self, a, x, y):
        return x // y if not x.dtype.is_floating_point else x / y

    def Dropout(self, a, x, *rest):
        return x

    def Softmax(self, a, x):
        return torch.softmax(x, a.get("axis", -1))

    def ReduceMean(self, a, x):
        return x.mean(a["axes"], bool(a.get("keepdims", 1)))

    Identity = lambda self, a, x: x
    Relu = lambda self, a, x: torch.relu(x)
    Erf = lambda self, a, x: torch.erf(x)
    Sqrt = lambda self, a, x: torch.sqrt(x)
    Add = lambda self, a, x, y: x + y
    Sub = lambda self, a, x, y: x - y
    Mul = lambda self, a, x, y: x * y
    Pow = lambda self, a, x, y: x ** y
    Equal = lambda self, a, x, y: x == y
    Where = lambda self, a, c, x, y: torch.where(c, x, y)
    MatMul = lambda self, a, x, y: x @ y
    Concat = lambda self, a, *x: torch.cat(x, a["axis"])
    Shape = lambda self, a, x: torch.tensor(x.shape)
    Expand = lambda self, a, x, to: x.expand(torch.broadcast_shapes(x.shape, self.list(to)))
    Transpose = lambda self, a, x: x.permute(*a["perm"])
    Flatten = lambda self, a, x: x.reshape(math.prod(x.shape[:a.get("axis", 1)]), -1)
    GlobalAveragePool = lambda self, a, x: x.mean((2, 3), keepdim=True)


def gradients(model, w, x, dy, output, dtype, watch=None, state=None):
    """output and gradient of every float weight of more than one element, by torch's autograd"""
    e = Evaluator(model, dtype, state)
    v = {}
    for name, a in w.items():
        t = torch.from_numpy(np.array(a))
        v[name] = t.to(dtype) if t.dtype.is_floating_point else t
    names = [t.name for t in model.graph.initializer if v[t.name].dtype.is_floating_point and v[t.name].numel() > 1]
    frozen = {n.input[i] for n in model.graph.node if n.op_type == "BatchNormalization" for i in (3, 4)}
    names = [n for n in names if n not in frozen]
    for n in names:
        v[n].requires_grad_(True)
    v[model.graph.input[0].name] = torch.from_numpy(x).to(dtype)
    y = e.run(v, output, watch)
    (y * torch.from_numpy(dy).to(dtype)).sum().backward()
    return y.detach(), {n: v[n].grad for n in names if v[n].grad is not None}


def kinks(exact, rounded):
    """Counts decisions (sign before Relu, clipping, maximum of a window): those within 6 rounding errors (root
    mean square over the tensor), those that float32 takes differently, and all"""
    near = flips = total = 0
    for (op, x, a), (_, y, _) in zip(exact, rounded):
        y = y.double()
        err = (x - y).pow(2).mean().sqrt()
        if op == "MaxPool":
            p = a.get("pads", [0, 0, 0, 0])
            def gap(t):
                k, s = a["kernel_shape"], a.get("strides", [1, 1])
                u = F.unfold(F.pad(t, (p[1], p[3], p[0], p[2]), value=-1e30), k, stride=s)
                u = u.reshape(t.shape[0], t.shape[1], k[0] * k[1], -1)
                top = u.topk(2, 2)
                return top.values[:, :, 0] - top.values[:, :, 1], top.indices[:, :, 0], top.values[:, :, 0]
            (d, i, big), (_, j, _) = gap(x), gap(y)
            live = (big > 0) & (d > 0)  # equal values are copies of one number
            near += int(((d < 6 * err) & live).sum()); flips += int(((i != j) & live).sum()); total += d.numel()
            continue
        for at in ([0.0, 6.0] if op == "Clip" else [0.0]):
            near += int(((x - at).abs() < 6 * err).sum()); flips += int(((x > at) != (y > at)).sum())
        total += x.numel()
    return near, flips, total


# The networks.

def export(module, size, opset, **options):
    with torch.no_grad():  # makes equal weights different, so that the exporter does not merge them
        for i, (name, p) in enumerate(module.state_dict().items()):
            if p.dtype.is_floating_point:
                p.add_(torch.from_numpy(drawn("export " + name, list(p.shape), 0, 0.01)))
    f = io.BytesIO()
    free = {"input": {0: "N"}, "output": {0: "N"}}
    torch.onnx.export(module, torch.zeros(2, 3, size, size), f, opset_version=opset, input_names=["input"],
                      output_names=["output"], dynamic_axes=free, **options)
    return onnx.load_from_string(f.getvalue())


tv, T = torchvision.models, torch.onnx.TrainingMode
def vit(depth):
    return tv.VisionTransformer(image_size=224, patch_size=16, num_layers=depth, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10)
plain = dict(training=T.PRESERVE, do_constant_folding=False)
NETWORKS = {  # module, size of the exported image, operator set, options of the exporter, variance gain of a Conv
    "resnet18": (lambda: tv.resnet18(num_classes=10), 64, 12, {}, 1),
    "resnet18-bn": (lambda: tv.resnet18(num_classes=10), 64, 13, plain, 2),
    "resnet50": (lambda: tv.resnet50(num_classes=10), 64, 13, {}, 1),
    "googlenet": (lambda: tv.googlenet(num_classes=10, init_weights=False, aux_logits=False), 96, 13, {}, 2),
    "mobilenetv2": (lambda: tv.mobilenet_v2(num_classes=10), 64, 16, {}, 2),
    "vit": (lambda: vit(2), 224, 14, {}, 2),
    "vit-layernorm": (lambda: vit(1), 224, 17, {}, 2),
    "vit-unfolded": (lambda: vit(1), 224, 12, plain, 2),
}


def reference(name, structure, batch, size, seed, train=False):
    """The numbers of one run, including the error of torch's float32 and the number of decisions near a kink."""
    w = weights(structure, seed)
    classes = CLASSES.get(name, 10)
    output = structure.graph.output[0].name if name != "googlenet-bvlc" else "logits"
    x = drawn("%d input" % seed, [batch, 3, size, size], 0, 50 if name == "googlenet-bvlc" else 1)
    dy = drawn("%d gradient" % seed, [batch, classes])
    exact, rounded, state, state32 = [], [], {}, {}
    y, g = gradients(structure, w, x, dy, output, torch.float64, exact, state if train else None)
    _, g32 = gradients(structure, w, x, dy, output, torch.float32, rounded, state32 if train else None)
    off = max(((g[n] - g32[n].double()).norm() / g[n].norm()).item() for n in g)
    near, flips, total = kinks(exact, rounded)
    print("%s %d×%d² seed %d: float32 off by %.2g, kinks near %d, crossed %d of %d" % (name, batch, size, seed, off, near, flips, total), flush=True)
    row = lambda n, a: [n, float("%.7g" % a.norm())] + [float("%.7g" % v) for v in sketch(a.numpy())]
    result = {
        "structure": name + ".onnx", "output": output, "input": [batch, 3, size, size], "classes": classes,
        "spread": 50 if name == "googlenet-bvlc" else 1, "seed": seed, "train": train, "torch32": float("%.2g" % off),
        "near": near, "decisions": total, "value": row(output, y), "weights": [row(n, g[n]) for n in g],
        "state": [row(n, s) for n, s in state.items()],
    }
    return (flips, near), result


def write(path, r):
    lines = lambda rows: "[\n" + ",\n".join("  " + json.dumps(v, separators=(",", ":")) for v in rows) + "\n ]"
    body = [' "%s": %s' % (k, lines(v) if k in ("weights", "state") and v else json.dumps(v)) for k, v in r.items()]
    open(path, "w").write("{\n" + ",\n".join(body) + "\n}\n")


def agree(module, model, size):
    """Checks that the evaluator computes the same as the module on the exported weights."""
    x = torch.from_numpy(drawn("agree", [2, 3, size, size]))
    e = Evaluator(model)
    v = {t.name: torch.from_numpy(np.array(nh.to_array(t))) for t in model.graph.initializer}
    with torch.no_grad():
        a, b = module(x), e.run({**v, "input": x}, "output")
    assert (a - b).norm() < 1e-4 * a.norm(), (a - b).norm() / a.norm()


def same(module, structure, r):
    """Checks that the evaluator's gradients equal the module's if the exported weights are the module's own."""
    module = module.double().train(r["train"])
    w = weights(structure, r["seed"])
    module.load_state_dict({n: torch.from_numpy(np.array(a)).double() for n, a in w.items()}, strict=False)
    y = module(torch.from_numpy(drawn("%d input" % r["seed"], r["input"])).double())
    (y * torch.from_numpy(drawn("%d gradient" % r["seed"], list(y.shape))).double()).sum().backward()
    own = dict(module.named_parameters())
    for name, norm, *rest in r["weights"]:
        d = np.linalg.norm(sketch(own[name].grad.numpy()) - np.array(rest)) / norm
        assert d < 1e-6, (name, d)
    own = dict(module.named_buffers())
    for name, norm, *rest in r["state"]:
        d = np.linalg.norm(sketch(own[name].numpy()) - np.array(rest)) / norm
        assert d < 1e-6, (name, d)
    print("  the module's own autograd says the same of %d weights and %d statistics" % (len(r["weights"]), len(r["state"])))


RUNS = {  # file of numbers: network, batch, size, training
    "resnet18": ("resnet18", 2, 64, False), "resnet18-224": ("resnet18", 1, 224, False),
    "resnet18-bn": ("resnet18-bn", 2, 64, False), "resnet18-train": ("resnet18-bn", 4, 64, True),
    "resnet50": ("resnet50", 2, 64, False), "googlenet": ("googlenet", 2, 96, False),
    "mobilenetv2": ("mobilenetv2", 2, 64, False), "vit": ("vit", 2, 224, False),
    "vit-layernorm": ("vit-layernorm", 2, 224, False), "vit-unfolded": ("vit-unfolded", 2, 224, False),
    "googlenet-bvlc": ("googlenet-bvlc", 1, 224, False),
}
CLASSES = {"googlenet-bvlc": 1000}


def main(folder, names):
    for run in names or RUNS:
        run, _, only = run.partition("@")
        name, batch, size, train = RUNS[run]
        if name == "googlenet-bvlc":
            structure, module = onnx.load(ASSETS + name + ".onnx"), None
        else:
            make, at, opset, options, gain = NETWORKS[name]
            module = make().eval()
            model = export(module, at, opset, **options)
            agree(module, model, at)
            structure = strip(model, gain)
            onnx.save(structure, folder + "/" + name + ".onnx")
        best = None
        for seed in [int(only)] if only else range(100):
            found = reference(name, structure, batch, size, seed, train)
            best = min(best or found, found, key=lambda f: f[0])
            if best[0] == (0, 0):
                break
        if name == "resnet18-bn":
            same(module, structure, best[1])
        write(folder + "/" + run + ".json", best[1])


ASSETS = "../shared/assets/models/"  # from the repository's root
if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
