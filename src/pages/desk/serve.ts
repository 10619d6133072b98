import type { H3, H3Event } from 'h3'
import type { App } from '../../app.ts'
import { notFound } from '../../platform/http/answers.ts'
import { parseTrustedProxies } from '../../platform/http/client-address.ts'
import { createRenderer } from '../pages.ts'
import type { DeskAccess } from './access.ts'

/** Serves the shop's office at /desk. While it is switched off, every address in it is unknown. */
export function serveDesk(h3: H3, app: App, access: DeskAccess): void {
  const render = createRenderer(app)
  const trusted = parseTrustedProxies(app.config.trustedProxies)
  const handle = async ({ req }: H3Event): Promise<Response> => {
    if (!access.isOpenTo(req)) throw notFound()
    // Loaded for its first visitor, because most servers have none.
    const { answerDesk } = await import('./desk.ts')
    return render(await answerDesk(app, access, trusted, req), req)
  }
  for (const pattern of ['/desk', '/desk/**']) {
    h3.all(pattern, handle, { meta: { record: { kind: 'page', path: '/desk' } } })
  }
}
