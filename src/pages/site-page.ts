import { findIdentity } from '../api/server.ts'
import { rawPath, rawTarget } from '../platform/http/request.ts'
import type { PageCall, PageReply } from './page.ts'
import { isOpen, siteOf } from './storefront-settings.ts'
import { templateData } from './storefront/show.ts'
import type { ShownPage } from './storefront/site.ts'

/**
 * A page that belongs to the service, such as the one of a link in an email, in the layout and the language of the
 * storefront. Without a storefront it has no links to it. It has no script.
 */
export function sitePage(
  { app, request, now }: Pick<PageCall, 'app' | 'request' | 'now'>,
  shown: ShownPage
): PageReply {
  const site = siteOf(app)
  const { status = 200, template, title } = shown
  return {
    status,
    template: `storefront/${template}`,
    title,
    ...(site.logoUrl === '' ? {} : { pictureFrom: site.logoUrl }),
    data: {
      ...templateData(shown, site, rawPath(rawTarget(request))),
      isSignedIn: findIdentity(app, request, now) !== null,
      hasStorefront: isOpen(app)
    }
  }
}
