export const referenceStyle = `
:root { color-scheme: light dark; --line: #8885; --quiet: #6b6b6b; --code: #8881; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --quiet: #a8a8a8; --link: #7db7f5; } }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 6rem; }
a { color: var(--link); }
code, pre { font: .875em/1.5 ui-monospace, monospace; background: var(--code); border-radius: .25rem; }
code { padding: .1em .3em; overflow-wrap: anywhere; }
pre { padding: .75rem; overflow-x: auto; }
h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); }
h3 { margin-top: 2.5rem; }
nav ul, .plain { list-style: none; padding: 0; }
nav li { margin: .25rem 0; }
article { border-top: 1px solid var(--line); }
.method { display: inline-block; min-width: 4.4rem; font-weight: 700; }
.quiet { color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; margin: .5rem 0; }
`.trim()
