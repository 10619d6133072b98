import { routes } from '../../src/api/routes.ts'
import type { Route } from '../../src/api/route.ts'
import { mountedAt } from '../../src/proxy/mounted.ts'
import { ApiRequests } from './fuzz/api-requests.ts'
import type { Material } from './fuzz/api-requests.ts'
import { talkNonsense } from './fuzz/bare-socket.ts'
import { fire } from './fuzz/campaign.ts'
import type { Shot, Target } from './fuzz/campaign.ts'
import { importNonsense, readNonsense } from './fuzz/importers.ts'
import { judgeApi, judgeElsewhere } from './fuzz/judge.ts'
import { gather } from './fuzz/material.ts'
import type { Gathered } from './fuzz/material.ts'
import { pageTargets } from './fuzz/page-targets.ts'
import { startProxy } from './fuzz/proxy-process.ts'
import type { ProxyProcess } from './fuzz/proxy-process.ts'
import { openWatchedShop } from './fuzz/watched-shop.ts'
import type { WatchedShop } from './fuzz/watched-shop.ts'
import { webhookTarget } from './fuzz/webhook-target.ts'
import type { Trial, Part } from './part.ts'

export const fuzz: Part = {
  name: 'fuzz',
  about: 'requests, files and bytes that nobody should send, against every address and importer',
  run
}

async function run(trial: Trial): Promise<void> {
  const times = trial.isFull ? 100_000 : 2_000
  await readNonsense(times, trial)
  await fireAtShop(trial, times)
  await fireAtPages(trial, times)
}

/** A shop that takes cards alone: the API, its proxy in both forms, the webhook, and what is no HTTP. */
async function fireAtShop(trial: Trial, times: number): Promise<void> {
  const shop = await openWatchedShop(trial.packed)
  const gathered = await gather(shop)
  const proxy = await startProxy(trial.packed, shop.server.url)
  const { apiRoot, url } = shop.server
  const mounted = `${new URL(apiRoot).origin}${mountedAt}`
  const proxied = routes.filter((route) => route.proxy !== null)
  const targets = [
    ...routes.map((route) =>
      apiTarget(`${route.method} ${route.path}`, [route], { url, root: apiRoot, material: gathered })
    ),
    apiTarget('the mounted proxy', proxied, { url, root: mounted, material: gathered, proxied: true }),
    apiTarget('the proxy by itself', proxied, {
      url: proxy.url,
      root: proxy.proxyRoot,
      material: gathered,
      proxied: true
    }),
    webhookTarget(shop, gathered)
  ]
  for (const target of targets) await fireAt(target, times, shop, gathered, trial)
  shop.markWarm()
  // A tenth of it once more with the limits that a shop has: what they refuse has to be described as well.
  shop.limit(true)
  for (const target of targets.slice(0, -1))
    await fireAt({ ...target, name: `${target.name}, limited` }, times / 10, shop, gathered, trial)
  shop.limit(false)
  const paths = ['/livez', '/readyz', '/', '/x', ...routes.map(({ path }) => `${new URL(apiRoot).pathname}${path}`)]
  await talkNonsense(shop, { name: 'no HTTP', url, paths, times }, trial)
  await talkNonsense(
    shop,
    {
      name: 'no HTTP to the proxy',
      url: proxy.url,
      paths: proxied.map(({ path }) => `${mountedAt}${path}`),
      times: times / 4
    },
    trial
  )
  await importNonsense(trial.isFull ? 2_000 : 40, shop.dataDir, shop.secrets, trial)
  await endProxy(proxy, shop, trial)
  await shop.judgeEnd(trial)
}

/** A shop with pages of its own: it offers to pay by hand as well, and shows the storefront. */
async function fireAtPages(trial: Trial, times: number): Promise<void> {
  const shop = await openWatchedShop(trial.packed, { payments: 'sandbox,manual', storefront: true })
  const gathered = await gather(shop)
  const { url, apiRoot } = shop.server
  const places = { ...gathered, apiPrefix: new URL(apiRoot).pathname }
  const targets = pageTargets(url, apiRoot, places)
  for (const target of targets) await fireAt(target, times, shop, gathered, trial)
  shop.markWarm()
  for (const target of targets)
    await fireAt({ ...target, name: `${target.name}, again` }, times / 10, shop, gathered, trial)
  await shop.judgeEnd(trial)
}

async function fireAt(
  target: Target,
  times: number,
  shop: WatchedShop,
  { crowd }: Gathered,
  trial: Trial
): Promise<void> {
  await crowd.gather()
  await fire(target, times, shop, trial)
  trial.progress(`${target.name}, ${shop.residentMb()} MB`)
}

type Where = { url: string; root: string; material: Material; proxied?: boolean }

/** Requests to some of the routes below a root; whatever else they come to ask for is judged by where it is. */
function apiTarget(name: string, those: readonly Route[], { url, root, material, proxied = false }: Where): Target {
  const requests = those.map((route) => new ApiRequests(route, root, material, { proxied }))
  const { pathname } = new URL(root)
  const known = new Set(
    routes.filter((route) => !proxied || route.proxy !== null).map(({ path }) => `${pathname}${path}`)
  )
  return {
    name,
    url,
    next(random) {
      const draft = random.pick(requests).next(random)
      const path = draft.target.split('?')[0] ?? ''
      const judge: Shot['judge'] = known.has(path)
        ? (answer) => judgeApi(draft.method, path.slice(pathname.length), answer)
        : (answer) => judgeElsewhere(draft.method, answer)
      return { draft, judge }
    }
  }
}

async function endProxy(proxy: ProxyProcess, { secrets }: WatchedShop, trial: Trial): Promise<void> {
  if (proxy.hasEnded()) trial.violation('The proxy has ended by itself.')
  for (const line of proxy.errors) {
    if (/error/i.test(line) || secrets.leaksIn(line).length > 0)
      trial.violation(`the proxy's log: ${line.slice(0, 500)}`)
  }
  await proxy.end()
}
