import type { IncomingMessage } from 'node:http'

/** Reads a form. @throws Error above 16 KB */
export async function readBody(req: IncomingMessage): Promise<string> {
  let text = ''
  req.setEncoding('utf8')
  for await (const chunk of req) {
    text += String(chunk)
    if (text.length > 16_384) throw new Error('The form is too large.')
  }
  return text
}
