//! The style sheet: two hues and one for warnings, light and dark, page, phone and paper.

/// Blue and orange stay apart for every kind of colour blindness; purple warns.
pub(super) const CSS: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2127;--faint:#515a65;--grid:#e3e6ea;\
--card:#f5f6f8;--read:#0969b0;--write:#b85200;--other:#5b6470;--warn:#a3218e;--warn-paper:#fbeef9;\
--s1:#00695c;--s2:#2fa79a;--s3:#7a6200;--s4:#b5992c;--s5:#8b95a1;\
--s6:#a23b2a;--s7:#5d8f1f}\
@media(prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e4e7eb;--faint:#9aa4b0;\
--grid:#2c3239;--card:#1d2127;--read:#5fb4f0;--write:#f29b4b;--other:#9aa4b0;--warn:#ea90da;\
--warn-paper:#33202f;--s1:#7fe3d6;--s2:#2fa79a;--s3:#ecd06f;--s4:#a8903a;--s5:#78828e;\
--s6:#e08a78;--s7:#a5cf6a}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
main{max-width:66rem;margin:0 auto;padding:1.1rem 1rem 4rem}\
h1{font-size:1.6rem;line-height:1.2;margin:.2rem 0 .4rem;overflow-wrap:anywhere}\
h2,h3,h4{overflow-wrap:anywhere}\
h2{font-size:1.15rem;margin:2.2rem 0 .5rem}h3{font-size:1rem;margin:1.6rem 0 .2rem}\
h2,h3,figcaption,summary,dt,dd{overflow-wrap:anywhere}\
p,li{max-width:44rem;margin:.3rem 0;overflow-wrap:anywhere}\
.lead{font-size:1.05rem}.faint,figcaption,small{color:var(--faint)}\
code,pre{font:.85em/1.45 ui-monospace,'DejaVu Sans Mono',monospace}\
pre{background:var(--card);padding:.8rem;border-radius:.4rem;overflow-x:auto;white-space:pre}\
pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}\
.badges{margin:0}.badge{display:inline-block;padding:.1rem .6rem;border-radius:1rem;\
border:2px solid currentColor;font-size:.8rem;text-transform:uppercase;letter-spacing:.05em}\
.measured{color:var(--read)}.simulated,.no-drive,.bad{color:var(--warn)}\
.bad{background:var(--warn);border-color:var(--warn);color:var(--paper)}\
.alarm,.warnings{border-left:.3rem solid var(--warn);background:var(--warn-paper);\
padding:.5rem .9rem;margin:.8rem 0;max-width:none}\
.remarks{border-left:.3rem solid var(--grid);padding:.2rem .9rem;margin:.8rem 0}\
.warnings h2,.remarks h2{margin-top:.2rem}\
.warnings ul,.remarks ul{padding-left:1.2rem;margin:.2rem 0}\
.first{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,24rem);gap:.5rem 2.2rem;\
align-items:start;margin-top:.6rem}\
.verdict h2{margin:.8rem 0 .1rem}.verdict p{font-size:1.02rem;line-height:1.45}\
.beware,.warn{color:var(--warn)}.unknown{color:var(--faint)}\
.numbers{display:grid;grid-template-columns:1fr 1fr;gap:.6rem;margin:.8rem 0}\
.numbers div{background:var(--card);border-radius:.5rem;padding:.55rem .8rem;min-width:0}\
.numbers span,.numbers strong,.numbers small{display:block}\
.numbers span{font-size:.82rem;line-height:1.3}\
.numbers strong{font-size:1.45rem;line-height:1.3;white-space:nowrap;\
font-variant-numeric:tabular-nums}.numbers .words{font-size:1rem;white-space:normal}\
.numbers i{font-size:.6em;font-style:normal}\
.plain .numbers{grid-template-columns:repeat(3,1fr)}\
@media(max-width:900px){.first{display:block}.numbers{grid-template-columns:repeat(3,1fr)}}\
@media(max-width:600px){.numbers,.plain .numbers{grid-template-columns:1fr 1fr}\
.numbers strong{white-space:normal}\
main{padding-top:.7rem}\
h1{font-size:1.35rem}}\
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));\
gap:.5rem 2rem}.pair>figure:only-child{max-width:32rem}\
figure{margin:.4rem 0 .8rem;min-width:0;break-inside:avoid}figcaption{font-size:.85rem}\
figure h3,figure h4{margin:0 0 .2rem;font-size:.9rem}\
figure svg{display:block;width:100%;height:auto;overflow:visible}\
figure svg.plot{width:auto;height:auto;overflow:hidden}\
svg text{fill:var(--faint);font:11px system-ui,'DejaVu Sans',sans-serif;\
font-variant-numeric:tabular-nums}\
svg .end{text-anchor:end}svg .mid{text-anchor:middle}svg .name{font-style:italic}\
svg .on{fill:var(--ink)}svg .number{font-weight:600}\
.grid{stroke:var(--grid);fill:none}.axis{stroke:var(--faint);fill:none}\
.seam{stroke:var(--faint);fill:none;stroke-dasharray:1 3;vector-effect:non-scaling-stroke}\
.line{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round;\
stroke-linecap:round;vector-effect:non-scaling-stroke}\
.few{stroke-width:5}.few.dash{stroke-linecap:square}.few.dots,.few.points,.points{stroke-width:3.2}\
.line.few{stroke-dasharray:none}.f1{fill:currentColor;fill-opacity:.13}\
.f2{fill:currentColor;fill-opacity:.3}.f3{fill:currentColor;fill-opacity:.5}\
.f4{fill:currentColor;fill-opacity:.72}.f5{fill:currentColor}\
.guide{stroke-dasharray:.1 4;stroke-width:1.2;opacity:.8}\
.hollow{fill:var(--paper);stroke:currentColor;stroke-width:1.5}\
.track{fill:var(--grid);fill-opacity:.6}.allowed{fill:var(--grid)}\
.limit{stroke:var(--ink);stroke-width:2}svg .letter{font-size:58px;font-weight:700}\
.dash{stroke-dasharray:5 4}.dots{stroke-dasharray:.1 3.5}.dashdot{stroke-dasharray:9 4 .1 4}\
.error{stroke:var(--ink);fill:none;stroke-width:1.4}\
.halo{stroke:var(--paper);fill:none;stroke-width:3.4}\
svg .read{color:var(--read)}svg .write{color:var(--write)}svg .other{color:var(--other)}\
svg .warning{color:var(--warn)}svg .s0{color:var(--ink)}svg .s1{color:var(--s1)}\
svg .s2{color:var(--s2)}svg .s3{color:var(--s3)}svg .s4{color:var(--s4)}\
svg .s5{color:var(--s5)}svg .s6{color:var(--s6)}svg .s7{color:var(--s7)}\
.bar,.dot{fill:currentColor}.bar{opacity:.85}\
.doubt{fill:currentColor;fill-opacity:.12;stroke:currentColor;stroke-dasharray:3 2}\
.part{fill:currentColor;fill-opacity:.18;stroke:currentColor}\
.level{fill:currentColor}.same{fill:currentColor;fill-opacity:.05}\
.unsure{fill:none;stroke:currentColor;stroke-opacity:.5;stroke-dasharray:3 2}\
.span{fill:currentColor;opacity:.16}svg .word{fill:currentColor;font-size:10px}\
.stops rect{fill:transparent}.stops rect:hover{fill:var(--ink);fill-opacity:.07}\
.lines{touch-action:pan-y}.key{cursor:pointer}.key.off{opacity:.999}\
.key.off text{text-decoration:line-through}\
.hair{stroke:var(--ink);fill:none;pointer-events:none}\
.picked{fill:var(--ink);opacity:.12;pointer-events:none}\
.values{font-size:.82rem;min-height:1.3em;line-height:1.3;margin:.1rem 0;max-width:none;\
font-variant-numeric:tabular-nums}\
.tools{margin:.1rem 0}.tools button{font:inherit;font-size:.8rem;color:var(--ink);\
background:var(--card);border:1px solid var(--faint);border-radius:.3rem;\
padding:.1rem .6rem;margin-right:.4rem;cursor:pointer}\
.save button{font-size:.72rem;color:var(--faint);border-color:var(--grid)}\
.narrow{display:none}\
@media(max-width:700px){.wide{display:none}.narrow{display:block}}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;\
font-variant-numeric:tabular-nums}\
th,td{text-align:left;padding:.25rem .7rem .25rem 0;border-bottom:1px solid var(--grid);\
vertical-align:top}td:first-child{min-width:7.5rem}th{color:var(--faint);font-weight:500}\
td.r,th.r{text-align:right;white-space:nowrap}td.n{white-space:nowrap}td.w{min-width:10rem}\
.cells{font-size:.8rem}\
.cells th,.cells td{padding-right:.5rem}.cells td:last-child{min-width:10rem}\
.facts td:first-child{color:var(--faint)}\
.facts td{overflow-wrap:anywhere}tr.group th{padding-top:1rem;color:var(--ink);font-weight:700}\
details{margin:.2rem 0}summary{cursor:pointer;color:var(--faint);font-size:.85rem}\
@page{size:A4;margin:14mm}\
@media print{.tools,.values{display:none}.first{display:block}\
:root{--paper:#fff;--ink:#000;--faint:#444;--grid:#ddd;--card:#f3f3f3;\
--read:#0969b0;--write:#b85200;--other:#444;color-scheme:light;--warn:#a3218e;--warn-paper:#fbeef9;\
--s1:#00695c;--s2:#2fa79a;--s3:#7a6200;--s4:#b5992c;--s5:#8b95a1;\
--s6:#a23b2a;--s7:#5d8f1f}\
body{font-size:10.5pt}main{max-width:none;padding:0}.scroll{overflow:visible}\
table{font-size:7.5pt;width:100%}th,td,td.r,td.n{padding-right:.4rem;white-space:normal;\
min-width:0;overflow-wrap:anywhere}td:first-child,td.w,.cells td:last-child{min-width:0}\
tr,.numbers div{break-inside:avoid}\
h2,h3{break-after:avoid}pre{white-space:pre-wrap}.badge,.bar,.span,.level,\
.f1,.f2,.f3,.f4,.f5,.track,.allowed\
{print-color-adjust:exact}}";
