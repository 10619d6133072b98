import { escapeHtml } from '../../platform/text.ts'
import { createHash } from 'node:crypto'
import type { ApiDocument } from './api-document.ts'
import { asSchema, fieldsOf, textOf, typeName } from './fields.ts'
import type { Field, Schema } from './fields.ts'
import { referenceStyle } from './reference-style.ts'

type Operation = { method: string; path: string; is: Schema }

/**
 * The API description as an HTML page. It is self-contained: no scripts, fonts or pictures, and one inline style whose
 * hash a strict Content-Security-Policy allows.
 */
export function renderReference(document: ApiDocument): { html: string; styleHash: string } {
  const operations = operationsOf(document)
  const components = asSchema(document.components?.schemas)
  const areas = (document.tags ?? []).map(({ name, description = '' }) => {
    const own = operations.filter(({ is }) => Array.isArray(is['tags']) && is['tags'].includes(name))
    return { name, description, own }
  })
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)} API ${escapeHtml(document.info.version)}</title>
<style>${referenceStyle}</style>
</head>
<body>
<header>
<h1>${escapeHtml(document.info.title)} API <span class="quiet">${escapeHtml(document.info.version)}</span></h1>
${prose(document.info.description ?? '')}
<p>${(document.servers ?? []).map(({ url, description = '' }) => `<code>${escapeHtml(url)}</code> ${escapeHtml(description)}`).join('<br>')}</p>
<p>The same for programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>
</header>
<nav aria-label="Endpoints">
${areas.map(({ name, own }) => `<p><strong>${escapeHtml(name)}</strong></p><ul>${own.map(linkTo).join('')}</ul>`).join('\n')}
</nav>
<main>
${areas.map(({ name, description, own }) => `<section><h2>${escapeHtml(name)}</h2><p>${escapeHtml(description)}</p>${own.map((operation) => article(operation, components)).join('\n')}</section>`).join('\n')}
</main>
</body>
</html>
`
  const digest = createHash('sha256').update(referenceStyle).digest('base64')
  return { html, styleHash: `sha256-${digest}` }
}

function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(asSchema(item)).map(([method, is]) => ({ method: method.toUpperCase(), path, is: asSchema(is) }))
  )
}

function linkTo({ method, path, is }: Operation): string {
  const id = escapeHtml(textOf(is, 'operationId'))
  return `<li><a href="#${id}"><span class="method">${method}</span> ${escapeHtml(path)}</a> <span class="quiet">${escapeHtml(textOf(is, 'summary'))}</span></li>`
}

function article({ method, path, is }: Operation, components: Schema): string {
  const id = escapeHtml(textOf(is, 'operationId'))
  const body = mediaOf(is['requestBody'])
  return `<article aria-labelledby="${id}">
<h3 id="${id}"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(textOf(is, 'summary'))}. <span class="quiet">${escapeHtml(textOf(is, 'description'))}</span></p>
${table('Parameters', parametersOf(is, components))}
${table('Body', fieldsOf(body['schema'], components))}${example('Example body', body['example'])}
${Object.entries(asSchema(is['responses']))
  .map(([status, response]) => answer(status, asSchema(response), components))
  .join('\n')}
</article>`
}

function parametersOf({ parameters }: Schema, components: Schema): Field[] {
  return (Array.isArray(parameters) ? parameters : []).map(asSchema).map((parameter) => ({
    name: `${textOf(parameter, 'name')} (${textOf(parameter, 'in')})`,
    type: typeName(parameter['schema'], components).replace('CorrelationId', 'string'),
    required: parameter['required'] === true,
    about: textOf(parameter, 'description')
  }))
}

/** A successful response is shown with its fields, an error with its codes. */
function answer(status: string, response: Schema, components: Schema): string {
  const media = mediaOf(response)
  const heading = `<h4>${escapeHtml(status)}</h4>${prose(textOf(response, 'description'))}`
  if (!status.startsWith('2')) return heading
  const fields = fieldsOf(media['schema'], components).filter(({ name }) => !name.startsWith('meta.'))
  const rows = fields.length === 0 ? '' : `<details><summary>Fields</summary>${table('', fields)}</details>`
  return `${heading}${rows}${example('Example answer', media['example'])}`
}

function mediaOf(carrier: unknown): Schema {
  return asSchema(asSchema(asSchema(carrier)['content'])['application/json'])
}

function table(caption: string, fields: readonly Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required, about }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th><td>${escapeHtml(type)}${required ? '' : ' <span class="quiet">optional</span>'}</td><td>${escapeHtml(about)}</td></tr>`
  )
  const heading = caption === '' ? '' : `<h4>${caption}</h4>`
  return `${heading}<div class="scroll"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">About</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function example(caption: string, value: unknown): string {
  if (value === undefined) return ''
  const text = JSON.stringify(value, null, 2)
  return `<details><summary>${caption}</summary><pre tabindex="0">${escapeHtml(text)}</pre></details>`
}

/** Paragraphs with `code` and **bold** text, the only formatting in our texts. */
function prose(text: string): string {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => {
      const marked = escapeHtml(paragraph)
        .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
        .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
      return `<p>${marked}</p>`
    })
    .join('')
}
