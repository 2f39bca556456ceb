"""Words of reports in Chinese and their English ones, by which the terms of causes are searched in both languages."""

from __future__ import annotations

import re

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORDS = {
    "防火墙": "firewall",
    "安全组": "security group",
    "网段": "subnet",
    "子网": "subnet",
    "路由": "route",
    "端口": "port",
    "网卡": "nic interface",
    "网口": "interface",
    "网络接口": "interface",
    "主机名": "hostname",
    "域名": "dns",
    "解析": "resolve",
    "免密": "passwordless ssh",
    "共享内存": "shared memory",
    "锁页内存": "locked memory",
    "没有释放": "not released",
    "未释放": "not released",
    "僵尸进程": "zombie process",
    "残留进程": "leftover process",
    "显存不足": "out of gpu memory",
    "显存溢出": "out of gpu memory",
    "爆显存": "out of gpu memory",
    "显存": "gpu memory",
    "内存不足": "out of host memory",
    "内存": "host memory",
    "磁盘": "disk",
    "硬盘": "disk",
    "文件系统": "filesystem",
    "权限": "permission",
    "容器": "container",
    "镜像": "image",
    "驱动": "driver",
    "整除": "divisible",
    "量化": "quantized",
    "矩阵": "matrix",
    "内核": "kernel",
    "固件": "firmware",
    "版本不一致": "different version",
    "版本": "version",
    "升级": "upgrade",
    "降级": "downgrade",
    "更新": "update",
    "编译": "compiled",
    "依赖": "dependency",
    "词表": "vocabulary",
    "字典": "vocabulary",
    "分词器": "tokenizer",
    "乱码": "gibberish output",
    "编译缓存": "compile cache",
    "负载不均": "load imbalance",
    "瓶颈": "bottleneck",
    "环境变量": "environment variable",
    "配置": "configuration",
    "参数": "parameter",
    "多机": "several node",
    "跨机": "several node",
    "双机": "two node",
    "两机": "two node",
    "两台": "two",
    "多台": "several",
    "单机": "one node",
    "机器": "node",
    "服务器": "node",
    "节点": "node",
    "多卡": "several gpu",
    "单卡": "one gpu",
    "显卡": "gpu",
    "卡住": "hang",
    "卡死": "hang",
    "挂起": "hang",
    "死锁": "hang",
    "无响应": "hang",
    "超时": "timed out",
    "不通": "unreachable",
    "连不上": "unreachable",
    "断开": "disconnected",
    "崩溃": "crash",
    "报错": "fail",
    "失败": "fail",
    "慢": "slow",
    "带宽": "bandwidth",
    "利用率": "utilization",
    "初始化": "initialization",
    "训练": "training",
    "数据集": "dataset",
    "数据加载": "data loader",
    "样本": "samples",
    "不均": "uneven",
    "保存": "save",
    "权重": "weights",
    "拓扑": "topology",
    "交换机": "switch",
    "光模块": "transceiver",
    "掉卡": "gpu lost",
    "降频": "throttle",
    "温度": "temperature",
    "功耗": "power limit",
    "等待": "wait",
    "精度": "precision",
    "重启": "reboot",
}
"""Words of reports, each with English ones of the same meaning; the longest that fits is read."""
_KNOWN = re.compile("|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True)))
STOPS = "。；！？，"
"""The signs that end a clause in Chinese, in a class of characters."""


def with_english_words(clause: str) -> str:
    """A clause, and behind it the English words of the Chinese ones that it has.

    >>> with_english_words("两台机器之间有防火墙"), with_english_words("a firewall")
    ('两台机器之间有防火墙 two node firewall', 'a firewall')
    """
    if _CHINESE.search(clause) is None:
        return clause
    return " ".join((clause, *(_WORDS[found] for found in _KNOWN.findall(clause))))
