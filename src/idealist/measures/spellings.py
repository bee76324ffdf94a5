"""What other tools call their measures, with our text for each: the one table of such names."""

from __future__ import annotations

#: The names of each tool with our text for them; a cutoff may follow a name as usual.
_NAMES = {
    "trec_eval": """
        num_q NumQ, num_ret NumRet, num_rel NumRel, num_rel_ret NumRelRet, map AP, gm_map GMAP,
        Rprec Rprec, bpref bpref, recip_rank RR, iprec_at_recall IPrec, P P, recall R, infAP infAP,
        gm_bpref GMbpref, Rprec_mult Rprec, utility Utility, 11pt_avg IAP, binG binG, G G, dcg DCG,
        ideal_dcg IDCG, ndcg nDCG, ndcg_rel nDCGRel, Rndcg RnDCG, ndcg_cut nDCG, map_cut AP,
        relative_P R(denominator=min(k,R)), success Success, set_P P,
        set_relative_P R(denominator=min(n,R)), set_recall R, set_map SetAP, set_F F,
        num_nonrel_judged_ret NumNonRelRet, prefs_num_prefs_poss prefs_num_prefs_poss,
        prefs_num_prefs_ful prefs_num_prefs_ful,
        prefs_num_prefs_ful_ret prefs_num_prefs_ful(of=retrieved), prefs_simp prefs_simp,
        prefs_simp_ret prefs_simp(of=retrieved), prefs_simp_imp prefs_simp(of=implied),
        prefs_pair prefs_pair, prefs_pair_ret prefs_pair(of=retrieved),
        prefs_pair_imp prefs_pair(of=implied), prefs_avgjg prefs_avgjg,
        prefs_avgjg_ret prefs_avgjg(of=retrieved), prefs_avgjg_imp prefs_avgjg(of=implied),
        prefs_avgjg_Rnonrel prefs_avgjg(nonrelevant=trec_eval),
        prefs_avgjg_Rnonrel_ret prefs_avgjg(of=retrieved,nonrelevant=trec_eval),
        map_avgjg AP_avgjg, P_avgjg P_avgjg, Rprec_mult_avgjg Rprec_avgjg, yaap yaap, rbp RBP,
        rbp_resid RBPResidual, unj Unjudged""",
    "ir_measures": """
        AP AP, MAP AP, AP_IA AP_IA, MAP_IA AP_IA, Accuracy Accuracy, BPM BPM, Bpref bpref,
        BPref bpref, Compat Compat, ERR ERR, ERR_IA ERR_IA, INSQ INSQ, INST INST, IPrec IPrec,
        Judged Judged, NDCG nDCG, nDCG nDCG, NERR8 NERR8, NERR9 NERR9, NERR10 NERR10,
        NERR11 NERR11, NRBP NRBP, nNRBP nNRBP, NumQ NumQ, NumRel NumRel, NumRelRet NumRelRet,
        NumRet NumRet, P P, Precision P, P_IA P_IA, R R, Recall R, RBP RBP, RPrec Rprec,
        Rprec Rprec, RR RR, MRR RR, SDCG SDCG, SetAP SetAP, SetF F, SetP P, SetR R,
        SetRelP R(denominator=min(n,R)), StRecall StRecall, Success Success, alpha_DCG alpha_DCG,
        alpha_nDCG alpha_nDCG, α_DCG alpha_DCG, α_nDCG alpha_nDCG, infAP infAP, nERR_IA nERR_IA""",
    "ranx": """
        hits NumRelRet, hit_rate Success, precision P, recall R, f1 F, r-precision Rprec, mrr RR,
        map AP, dcg DCG, dcg_burges DCG(gain=exp2), ndcg nDCG, ndcg_burges nDCG(gain=exp2),
        bpref bpref, rbp RBP, interpolated_precision_at_recall IPrec""",
    "cwl_eval": """
        Precision CWL(model=P), RR CWL(model=RR), AP CWL(model=AP), TrAP AP, RBP RBP, NDCG SDCG,
        INST INST, INSQ INSQ, TBG TBG, UMeasure UMeasure, NPV NPV, SET SET, NERReq8 NERR8,
        NERReq9 NERR9, NERReq10 NERR10, NERReq11 NERR11, BPM BPM, BPMD BPM, IFTGoal IFT(stop=goal),
        IFTRate IFT(stop=rate), IFTGoalRate IFT(stop=both)""",
    "gdeval": "ndcg nDCG(gain=exp2), err ERR",
    "sample_eval": "infAP xinfAP, infNDCG infNDCG",
    "statAP_MQ_eval": "statAP statAP",
    "NTCIREVAL": """
        RR RR, OMeasure OMeasure, PMeasure PMeasure, PPlusMeasure PPlus, AP AP, QMeasure Q,
        NCUguP NCU(beta=0), NCUguBR NCU, NCUrbP NCU(beta=0,readers=rank-biased),
        NCUrbBR NCU(readers=rank-biased), RBP RBP, ERR ERR, nERR nERR, nDCG nDCG(discount=jk(2)),
        MSnDCG nDCG, Precision P, Hit Success""",
    "ndeval": """
        ERR-IA ERR_IA, nERR-IA nERR_IA, alpha-DCG alpha_DCG, alpha-nDCG alpha_nDCG, NRBP NRBP,
        nNRBP nNRBP, MAP-IA AP_IA, P-IA P_IA, strec StRecall""",
    "scikit-learn": """
        dcg_score DCG, ndcg_score nDCG, average_precision_score AP,
        label_ranking_average_precision_score AP, roc_auc_score Accuracy""",
    "torchmetrics": """
        RetrievalMAP AP, RetrievalMRR RR, RetrievalNormalizedDCG nDCG, RetrievalPrecision P,
        RetrievalRecall R, RetrievalHitRate Success, RetrievalRPrecision Rprec,
        RetrievalAUROC Accuracy, RetrievalFallOut FallOut""",
    "LightGBM": "ndcg nDCG(gain=exp2), map AP",
    "XGBoost": "ndcg nDCG(gain=exp2), map AP, pre P",
    "CatBoost": """
        NDCG nDCG, DCG DCG, PFound PFound, MAP AP, MRR RR, ERR ERR, PrecisionAt P, RecallAt R,
        QueryAUC Accuracy, AverageGain AverageGain, QueryAverage AverageGain""",
    "Rax": """
        ndcg_metric nDCG(gain=exp2), dcg_metric DCG(gain=exp2), mrr_metric RR, ap_metric AP,
        precision_metric P, recall_metric R, opa_metric OPA""",
    "TF-Ranking": """
        NDCGMetric nDCG(gain=exp2), DCGMetric DCG(gain=exp2), MRRMetric RR,
        MeanAveragePrecisionMetric AP, PrecisionMetric P, RecallMetric R, HitsMetric Success,
        BPrefMetric bpref, OPAMetric OPA, ARPMetric ARP, PrecisionIAMetric P_IA,
        AlphaDCGMetric alpha_DCG""",
    "BEIR": """
        NDCG nDCG, MAP AP, Recall R, P P, MRR RR, R_cap R(denominator=min(k,R)),
        Accuracy Success""",
    "MTEB": """
        ndcg_at nDCG, map_at AP, recall_at R, precision_at P, mrr_at RR, hit_rate_at Success""",
    "Elasticsearch": """
        precision P, recall R, mean_reciprocal_rank RR, dcg DCG(gain=exp2),
        expected_reciprocal_rank ERR""",
    "OpenSearch": "Precision P, MAP AP, NDCG nDCG(gain=exp2), Coverage Judged",
    "Quepid": """
        CG CG, DCG DCG(gain=exp2), NDCG nDCG(gain=exp2), NDCG_CUT nDCG(gain=exp2), P P, AP AP,
        RR RR, ERR ERR""",
    "LlamaIndex": "hit_rate Success, mrr RR, precision P, recall R, ap AP, ndcg nDCG",
    "Haystack": """
        DocumentMAPEvaluator AP, DocumentMRREvaluator RR, DocumentNDCGEvaluator nDCG,
        DocumentRecallEvaluator R""",
    "MLflow": "precision_at_k P, recall_at_k R, ndcg_at_k nDCG",
}


def read_pairs(names: str) -> dict[str, str]:
    """Read pairs separated by a comma and a blank."""
    return dict(pair.split() for pair in " ".join(names.split()).split(", "))


#: What each tool calls its measures, with our text for each.
SPELLINGS: dict[str, dict[str, str]] = {tool: read_pairs(names) for tool, names in _NAMES.items()}
#: pytrec_eval is trec_eval 9 without the measures that need other kinds of judgments.
SPELLINGS["pytrec_eval"] = {
    name: ours
    for name, ours in SPELLINGS["trec_eval"].items()
    if not name.startswith("prefs_") and not name.endswith("_avgjg")
    and name not in ("dcg", "ideal_dcg", "rbp", "rbp_resid", "unj", "yaap")
}  # fmt: skip


def computed_by(tool: str) -> frozenset[str]:
    """Return the measures that a tool computes, ignoring parameters.

    >>> sorted(computed_by("gdeval"))
    ['ERR', 'nDCG']
    """
    return frozenset(ours.partition("(")[0] for ours in SPELLINGS[tool].values())


_LOSSES = "GroupQuantile PairLogit PairLogitPairwise QueryCrossEntropy QueryRMSE QuerySoftMax"
#: What tools list among their measures although it measures no ranking, and what it is.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("trec_eval", "runid"): "the name of the run; `idealist trec-eval` prints it",
    ("trec_eval", "relstring"): "the first grades as text; `idealist trec-eval` prints them",
    ("pytrec_eval", "runid"): "the name of the run",
    ("pytrec_eval", "relstring"): "the first grades as text",
    ("scikit-learn", "auc"): "the area under any curve",
    ("scikit-learn", "coverage_error"): "a mean rank over the labels of samples",
    ("scikit-learn", "label_ranking_loss"): "1 - Accuracy, over the labels of samples",
    ("scikit-learn", "top_k_accuracy_score"): "about classes, not documents",
    ("CatBoost", "FilteredDCG"): "DCG of the documents with a score above 0, in the given order",
    ("CatBoost", "PairAccuracy"): "the share of training pairs in the right order",
    **{("CatBoost", name): "a training loss" for name in _LOSSES.split()},
    ("XGBoost", "auc"): "an area that also counts pairs of equal labels",
    ("XGBoost", "aucpr"): "the area under an interpolated precision-recall curve",
    ("torchmetrics", "RetrievalPrecisionRecallCurve"): "a curve: P and R at every cutoff",
    ("torchmetrics", "RetrievalRecallAtFixedPrecision"): "a point on the mean curve of P and R",
}

#: Other spellings people type, in lower case; they take precedence over any tool's.
TYPED = read_pairs("""
    average_precision AP, reciprocal_rank RR, capped_recall R(denominator=min(k,R)),
    recall_cap R(denominator=min(k,R)), hit Success, hits Success, hitrate Success, all_hit AllHit,
    all_hits AllHit, all_recall AllHit, recall_all AllHit, r_precision Rprec, rprecision Rprec,
    u-measure UMeasure, u_measure UMeasure, q-measure Q, q_measure Q, α-ndcg alpha_nDCG,
    α-dcg alpha_DCG, subtopic_recall StRecall, s-recall StRecall, auc Accuracy, auroc Accuracy,
    compatibility Compat, ordered_pair_accuracy OPA, p+ PPlus, o-measure OMeasure,
    p-measure PMeasure""")


def aliases() -> dict[str, str]:
    """Return every spelling in lower case with our text for it; the first tool wins."""
    found = dict(TYPED)
    for names in SPELLINGS.values():
        for theirs, ours in names.items():
            found.setdefault(theirs.lower(), ours)
    return found
