"""Training steps of a network in PyTorch, for BenchmarkBesideTorch: one step for each line of standard input, answered with
the seconds forward and backward and the bytes by which the process grew at most. The networks are those of
speed_bench_test.go: torchvision's without classifier, batch normalisation folded into biases. For measuring only.
Run: python3 torch_step.py NETWORK   (torch 1.13)
"""
import sys, time
import torch
from torch import nn

torch.set_num_threads(2)


def conv(i, o, kernel, stride=1, groups=1):
    return nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups)


class Residual(nn.Module):
    def __init__(self, i, width, stride, bottleneck):
        super().__init__()
        self.out = 4 * width if bottleneck else width
        if bottleneck:
            self.body = nn.Sequential(conv(i, width, 1), nn.ReLU(), conv(width, width, 3, stride), nn.ReLU(), conv(width, self.out, 1))
        else:
            self.body = nn.Sequential(conv(i, width, 3, stride), nn.ReLU(), conv(width, width, 3))
        self.side = conv(i, self.out, 1, stride) if stride > 1 or i != self.out else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.side(x))


class Inverted(nn.Module):
    def __init__(self, i, o, stride, widening):
        super().__init__()
        wide = i * widening
        first = [conv(i, wide, 1), nn.ReLU6()] if widening > 1 else []
        self.body = nn.Sequential(*first, conv(wide, wide, 3, stride, wide), nn.ReLU6(), conv(wide, o, 1))
        self.residual = stride == 1 and i == o

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


def resnet(blocks, bottleneck):
    layers, channels = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, n in enumerate(blocks):
        for block in range(n):
            layers.append(Residual(channels, 64 << stage, 2 if block == 0 and stage > 0 else 1, bottleneck))
            channels = layers[-1].out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def mobilenet():
    layers, channels = [conv(3, 32, 3, 2), nn.ReLU6()], 32
    for widening, out, n, stride in (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1):
        for block in range(n):
            layers.append(Inverted(channels, out, stride if block == 0 else 1, widening))
            channels = out
    return nn.Sequential(*layers, conv(channels, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def memory(which):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(which))


before = memory("VmRSS")
net = {"ResNet-18": lambda: resnet([2, 2, 2, 2], False), "ResNet-50": lambda: resnet([3, 4, 6, 3], True), "MobileNetV2": mobilenet}[sys.argv[1]]()
x = torch.randn(8, 3, 224, 224)
gradient = None
for _ in sys.stdin:
    for p in net.parameters():
        p.grad = None
    start = time.perf_counter()
    y = net(x)
    middle = time.perf_counter()
    if gradient is None:
        gradient = torch.randn_like(y)
    middle2 = time.perf_counter()
    y.backward(gradient)
    end = time.perf_counter()
    del y
    print(middle - start, end - middle2, memory("VmHWM") - before, flush=True)
