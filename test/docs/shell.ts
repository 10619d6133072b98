/** A file that a script writes from a here-document. */
export type HereDocument = { target: string; text: string }

/** Simple commands as lists of words without quotes. */
export type Script = { commands: string[][]; documents: HereDocument[] }

/**
 * Reads the shell that the pages use for single commands: pipes, lists, redirections, quotes, comments, line
 * continuations and quoted here-documents. Variables are left as they are.
 */
export function readScript(source: string): Script {
  const documents: HereDocument[] = []
  const withoutDocuments = source
    .replaceAll('\\\n', ' ')
    .replaceAll(/^(.*?)(?:> (\S+) )?<<'(\w+)'\n([^]*?)^\3$/gm, (_all, before: string, target: string, ...[, text]) => {
      documents.push({ target, text: String(text) })
      return before
    })
  return { commands: withoutDocuments.split('\n').flatMap(commandsIn), documents }
}

const token = /(?<=^|\s)#.*|&&|\|\||[|;&]|\d?>>?|<|(?:'[^']*'|"[^"]*"|[^\s'"|;&<>])+/g

function commandsIn(line: string): string[][] {
  const found: string[][] = [[]]
  let isTarget = false
  for (const [part] of line.matchAll(token)) {
    if (part.startsWith('#')) break
    if (/^[|;&]/.test(part)) found.push([])
    else if (/^\d?[<>]/.test(part)) isTarget = true
    else if (isTarget) isTarget = false
    else found.at(-1)?.push(part.replaceAll(/['"]/g, ''))
  }
  return found.filter((words) => words.length > 0)
}
