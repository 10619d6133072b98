/** The style sheet of the hosted pages. A file of its own, so that their Content-Security-Policy forbids inline styles. */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1d2433; --paper: #fff; --soft: #f1f4f9; --line: #c3cad8; --deed: #3730a3; --bad: #a4161a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebf2; --paper: #161a24; --soft: #212736; --line: #485066; --deed: #a5b4fc; --bad: #ff9b9e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--soft); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 2rem auto; padding: 1.5rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; }
p { overflow-wrap: anywhere; }
h1 { margin-top: 0; font-size: 1.5rem; }
.note { padding: .5rem .75rem; background: var(--soft); border-radius: .5rem; }
.alert { padding: .5rem .75rem; border: 2px solid var(--bad); border-radius: .5rem; color: var(--bad); font-weight: 600; }
table { width: 100%; border-collapse: collapse; margin-block: 1rem; }
caption { text-align: left; font-weight: 600; }
th, td { padding: .35rem .25rem; border-bottom: 1px solid var(--line); text-align: left; overflow-wrap: anywhere; }
td:last-child, thead th:last-child { text-align: right; white-space: nowrap; }
thead th { overflow-wrap: normal; }
fieldset { margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; }
fieldset label { display: block; padding: .2rem 0; }
code { font-size: .8rem; overflow-wrap: anywhere; }
label[for] { display: block; font-weight: 600; }
input[type='email'] { width: 100%; padding: .5rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: .35rem; }
button { width: 100%; min-height: 2.75rem; margin-top: .5rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--deed); border: 1px solid var(--deed); border-radius: .5rem; cursor: pointer; }
button.plain { color: var(--deed); background: none; }
:focus-visible { outline: 3px solid var(--deed); outline-offset: 2px; }
a { color: var(--deed); }
`
