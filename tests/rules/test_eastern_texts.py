"""Demands of Japanese, Chinese and Korean texts: each with a twin that the design keeps."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.glosses import glossed
from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import MACHINE, findings_of_demands

SHARE, TOKENS = "cluster.power.liquid_share", "workload.tokens"
TWINS = [
    # a text, a figure that the design breaks, one that it keeps, and the key
    ("根据许可协议，同一份文本最多只能训练{}遍。", "三", "五", "workload.tokens"),
    ("建物の冷却水回路が受け取れる熱は{}までである。", "200 kW", "300 kW", SHARE),
    ("大楼的冷却水最多只能带走 {} 的热量。", "200 kW", "300 kW", SHARE),
    ("地域暖房に少なくとも{}の熱を渡さないと補助金が取り消される。", "300キロワット", "250キロワット", SHARE),
    ("按照合同,我们每个冬天向区域供热网提供不少于 {} 的热量,否则补贴收回。", "300 千瓦", "250 千瓦", SHARE),
    ("機械室の空調機が除去できる熱は{}以下に限られる。", "50 kW", "90 kW", SHARE),
    ("机房的精密空调至多带走 {} 的热量。", "50 kW", "90 kW", SHARE),
    ("ジョブを止めた待機中、機械全体の電力は{}を超えてはならない。", "70 kW", "82 kW", "cluster.power.node_idle"),
    ("空闲时整机功率不得高于 {}。", "70 kW", "82 kW", "cluster.power.node_idle"),
    ("電力会社との契約は、冷却を含めて{}を上限としている。", "380 kW", "420 kW", "cluster.power.budget"),
    ("供电合同规定,连同制冷在内的功率不能超过 {}。", "380 kW", "420 kW", "cluster.power.budget"),
    ("市の許可では、年間の電力量は{}以内とする。", "2.4 GWh", "3.2 GWh", "procurement.utilization"),
    ("环保局的批文规定每年用电量最多 {}。", "2,400 MWh", "3,200 MWh", "procurement.utilization"),
    ("許可では、年間の排出量は{}以下とする。", "800トンのCO2", "950トンのCO2", "operations.carbon.intensity"),
    ("评审委员会允许每年最多排放 {}。", "800 吨二氧化碳", "950 吨二氧化碳", "operations.carbon.intensity"),
    ("著作権者との契約により、各文書をモデルに読ませるのは{}までとする。", "二回", "五回", TOKENS),
    ("许可协议规定每份文档最多训练 {},超出即须赔偿。", "三遍", "五遍", TOKENS),
    ("倫理審査で認められたのは最大{}の更新である。", "15万ステップ", "25万ステップ", TOKENS),
    ("批准的方案上限为 {}。", "十五万步", "25 万步", TOKENS),
    ("故障で失われる計算は{}以内でなければならない。", "22分", "25分", "operations.checkpoint.interval"),
    ("任何一次故障丢失的训练不得超过 {}。", "二十二分钟", "25 分钟", "operations.checkpoint.interval"),
    ("停止後、チェックポイントを{}以内に読み戻すこと。", "30秒", "60秒", "cluster.networks.storage.read"),
    ("故障后必须在 {} 内读回检查点。", "30 秒", "60 秒", "cluster.networks.storage.read"),
    ("仕様書は合計{}以上のHBMを求めている。", "25 TB", "20 TB", "cluster.nodes"),
    ("招标文件要求显存合计不低于 {}。", "25 TB", "20 TB", "cluster.nodes"),
    ("納入前に支払えるのは{}ユーロまでと定款にある。", "250万", "300万", "procurement.payment.order"),
    ("章程规定,交货前付款不得超过 {}欧元。", "250 万", "300 万", "procurement.payment.order"),
    ("건물의 냉각수가 받을 수 있는 열은 {}까지이다.", "200 kW", "300 kW", SHARE),
    ("협정에 따라 지역난방에 최소 {}의 열을 공급해야 한다.", "300 kW", "250 kW", SHARE),
    ("유휴 상태에서 시스템 전체의 전력은 {}를 초과할 수 없다.", "70 kW", "82 kW", "cluster.power.node_idle"),
    ("한전과의 계약은 냉각을 포함하여 최대 {}이다.", "380 kW", "420 kW", "cluster.power.budget"),
    ("계약에 따라 각 문서는 모델 학습에 {}까지만 쓸 수 있다.", "두 번", "다섯 번", TOKENS),
    ("장애로 잃는 학습은 {} 이내여야 한다.", "22분", "25분", "operations.checkpoint.interval"),
    ("납품 전 지급은 {} 유로를 넘을 수 없다.", "250만", "300만", "procurement.payment.order"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "broken", "kept", "key"), TWINS)
def test_a_demand_is_compared_with_the_design(check: Check, text: str, broken: str, kept: str, key: str) -> None:
    found = findings_of_demands(check, MACHINE.format(text=f'"{text.format(broken)}"'))
    assert [".".join(map(str, each.path)) for each in found] == [key], glossed(text.format(broken))
    found = findings_of_demands(check, MACHINE.format(text=f'"{text.format(kept)}"'))
    assert [each.message for each in found] == [], glossed(text.format(kept))


DEMANDS = [
    ("機械室の受電は 160 kW までである。", "power", 160e3),
    ("机房的配电柜最多供给 160 千瓦。", "power", 160e3),
    ("最初のトークンは800ミリ秒以内に返すこと。", "first token", 0.8),
    ("首个词元必须在 800 毫秒内返回。", "first token", 0.8),
    ("保証期間は五年以上とする。", "warranty", 157788000.0),
    ("质保期不得少于 5 年。", "warranty", 157788000.0),
    ("納期は16週間以内とする。", "delivery", 9676800.0),
    ("交货期不得超过十六周。", "delivery", 9676800.0),
    ("前払金は価格の2割までとする。", "advance", 0.2),
    ("预付款不得超过合同价的百分之二十。", "advance", 0.2),
    ("現地到着は4時間以内であること。", "response", 14400.0),
    ("工程师必须在 4 小时内到达现场。", "response", 14400.0),
    ("同時に850件のリクエストを処理する。", "concurrency", 850.0),
    ("高峰时同时有 1,200 个请求。", "concurrency", 1200.0),
    ("最長の文書は12万8000トークンで、全文を読む。", "prompt", 128e3),
    ("最长的案卷有 12.8 万个词元,必须完整读入。", "prompt", 128e3),
    ("最も長い調書は9万6千トークンあり、途中で切ることは許されない。", "prompt", 96e3),
    ("1列に置けるラックは10本までである。", "racks of a row", 10.0),
    ("机房每排最多放 10 个机柜。", "racks of a row", 10.0),
    ("저장장치는 최소 2 PB여야 한다.", "store", 2e15),
    ("アーカイブ1.2 PBをストレージに保管しなければならない。", "store", 1.2e15),
    ("归档数据 1.2 PB 必须保存在存储系统上。", "store", 1.2e15),
    ("1ラックあたり最大 30 kW。", "rack power", 30e3),
    ("每个机柜最多 30 kW。", "rack power", 30e3),
    ("チェックポイントは30分ごとに取る。", "checkpoint interval", 1800.0),
    ("전산실의 배전반은 최대 160 kW이다.", "power", 160e3),
    ("보증 기간은 5년 이상이어야 한다.", "warranty", 157788000.0),
    ("납기는 16주 이내로 한다.", "delivery", 9676800.0),
    ("첫 토큰은 800밀리초 이내에 나와야 한다.", "first token", 0.8),
    ("检查点至少每隔 30 分钟保存一次。", "checkpoint interval", 1800.0),
]


@pytest.mark.parametrize(("text", "subject", "value"), DEMANDS)
def test_a_demand_names_its_key(text: str, subject: str, value: float) -> None:
    found = {each.subject.name: each.value for each in demands_in(text)}
    assert found == {subject: pytest.approx(value)}, glossed(text)


SILENT = [
    "旧システムの機械室は 160 kW までだった。",
    "另一家投标人的机房最多 160 kW。",
    "もし増設すれば、機械室は 160 kW までとなる。",
    "对话平均 1,200 个词元。",
    "2027年3月1日までに設置する。",
    "自分で十分に確認した。",
]


@pytest.mark.parametrize("text", SILENT)
def test_a_text_without_a_demand_on_the_design_has_none(text: str) -> None:
    assert [each.subject.name for each in demands_in(text)] == [], glossed(text)


GLOSSES = [
    ("費用は3億5000万円、50万8600回。", "費用 350000000 JPY, 508600 times."),
    ("スイッチ24台、GPU 8 枚、サーバー三十二台", "switch 24 switch, GPU 8 GPU, server 32 server"),
    ("３月８日９時から３月10日まで", "8 March 9:00 10 March"),
    ("1台は14.3 kW、64台で915 kW", "1 pieces 14.3 kW, 64 pieces 915 kW"),
    ("三分之一的节点", "33.33% 的 node"),
    ("H100を8枚、p5.48xlargeを2つ", "H100 8 pieces, p5.48xlarge 2 pieces"),
    ("9만 6천 토큰, 3억 5천만 원", "96000 tokens, 350000000 KRW"),
    ("每秒 12 个请求", "12 requests per second"),
    ("2027년 3월 1일까지 서버 열두 대, 84억 원", "2027-03-01 까지 server 12 server, 8400000000 KRW"),
    ("A plain text, 12 t.", "A plain text, 12 t."),
]


@pytest.mark.parametrize(("text", "english"), GLOSSES)
def test_a_text_has_english_words_and_plain_numbers(text: str, english: str) -> None:
    assert glossed(text) == english
