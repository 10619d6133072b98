import { routes } from '../../src/api/routes.ts'
import { filledPath } from '../support/filled-path.ts'
import type { Route } from '../../src/api/route.ts'
import { mountedAt } from '../../src/proxy/mounted.ts'
import { ApiRequests } from './fuzz/api-requests.ts'
import type { Material } from './fuzz/api-requests.ts'
import { fuzzRawSocket } from './fuzz/raw-socket.ts'
import { runTarget } from './fuzz/campaign.ts'
import type { TestCase, Target } from './fuzz/campaign.ts'
import { fuzzImportCommands, fuzzImporters } from './fuzz/importers.ts'
import { verifyApi, verifyOutsideApi } from './fuzz/verify.ts'
import { collect } from './fuzz/material.ts'
import type { CollectedMaterial } from './fuzz/material.ts'
import { pageTargets } from './fuzz/page-targets.ts'
import { startProxy } from './fuzz/proxy-process.ts'
import type { ProxyProcess } from './fuzz/proxy-process.ts'
import { openWatchedShop } from './fuzz/watched-shop.ts'
import type { WatchedShop } from './fuzz/watched-shop.ts'
import { webhookTarget } from './fuzz/webhook-target.ts'
import type { Trial, Part } from './part.ts'

export const fuzz: Part = {
  name: 'fuzz',
  about: 'invalid requests, files and bytes for every route, page and importer',
  run
}

async function run(trial: Trial): Promise<void> {
  const times = trial.isFull ? 100_000 : 400
  await fuzzImporters(times, trial)
  await fuzzShop(trial, times)
  await fuzzPages(trial, times)
}

/** Tests a shop with card payments: the API, the mounted and the separate proxy, the webhook, and invalid HTTP. */
async function fuzzShop(trial: Trial, times: number): Promise<void> {
  const shop = await openWatchedShop(trial.packed)
  const material = await collect(shop)
  const proxy = await startProxy(trial.packed, shop.server.url)
  const { apiRoot, url } = shop.server
  const mounted = `${new URL(apiRoot).origin}${mountedAt}`
  const proxied = routes.filter((route) => route.proxy !== null)
  const targets = [
    ...routes.map((route) => apiTarget(`${route.method} ${route.path}`, [route], { url, root: apiRoot, material })),
    apiTarget('the mounted proxy', proxied, { url, root: mounted, material, proxied: true }),
    apiTarget('the separate proxy', proxied, {
      url: proxy.url,
      root: proxy.proxyRoot,
      material,
      proxied: true
    }),
    webhookTarget(shop, material)
  ]
  for (const target of targets) await fuzzTarget(target, times, shop, material, trial)
  shop.markWarm()
  // Again with the default rate limits, whose refusals must match the API description too.
  shop.setLimits(true)
  for (const target of targets.slice(0, -1))
    await fuzzTarget({ ...target, name: `${target.name}, limited` }, times / 10, shop, material, trial)
  shop.setLimits(false)
  const paths = [
    '/livez',
    '/readyz',
    '/',
    '/x',
    ...routes.map(({ path }) => `${new URL(apiRoot).pathname}${filledPath(path)}`)
  ]
  await fuzzRawSocket(shop, { name: 'invalid HTTP', url, paths, times }, trial)
  await fuzzRawSocket(
    shop,
    {
      name: 'invalid HTTP to the proxy',
      url: proxy.url,
      paths: proxied.map(({ path }) => `${mountedAt}${filledPath(path)}`),
      times: times / 4
    },
    trial
  )
  await fuzzImportCommands(trial.isFull ? 2_000 : 15, shop.dataDir, shop.secrets, trial)
  await endProxy(proxy, shop, trial)
  await shop.verifyEnd(trial)
}

/** Tests a shop with hosted pages: it also offers bank transfer and shows the storefront. */
async function fuzzPages(trial: Trial, times: number): Promise<void> {
  const shop = await openWatchedShop(trial.packed, { payments: 'sandbox,manual', storefront: true })
  const material = await collect(shop)
  const { url, apiRoot } = shop.server
  const places = { ...material, apiPrefix: new URL(apiRoot).pathname }
  const targets = pageTargets(url, apiRoot, places)
  for (const target of targets) await fuzzTarget(target, times, shop, material, trial)
  shop.markWarm()
  for (const target of targets)
    await fuzzTarget({ ...target, name: `${target.name}, again` }, times / 10, shop, material, trial)
  await shop.verifyEnd(trial)
}

async function fuzzTarget(
  target: Target,
  times: number,
  shop: WatchedShop,
  { users }: CollectedMaterial,
  trial: Trial
): Promise<void> {
  await users.collect()
  await runTarget(target, times, shop, trial)
  trial.progress(`${target.name}, ${shop.residentMb()} MB`)
}

type Where = { url: string; root: string; material: Material; proxied?: boolean }

/** A target of requests to these routes below a root. A request whose path was changed is verified by its actual path. */
function apiTarget(name: string, selected: readonly Route[], { url, root, material, proxied = false }: Where): Target {
  const requests = selected.map((route) => new ApiRequests(route, root, material, { proxied }))
  const { pathname } = new URL(root)
  const known = new Set(
    routes.filter((route) => !proxied || route.proxy !== null).map(({ path }) => `${pathname}${filledPath(path)}`)
  )
  return {
    name,
    url,
    next(random) {
      const draft = random.pick(requests).next(random)
      const path = draft.target.split('?')[0] ?? ''
      const verify: TestCase['verify'] = known.has(path)
        ? (answer) => verifyApi(draft.method, path.slice(pathname.length), answer)
        : (answer) => verifyOutsideApi(draft.method, answer)
      return { draft, verify }
    }
  }
}

async function endProxy(proxy: ProxyProcess, { secrets }: WatchedShop, trial: Trial): Promise<void> {
  if (proxy.hasEnded()) trial.violation('the proxy ended unexpectedly')
  for (const line of proxy.errors) {
    if (/error/i.test(line) || secrets.leaksIn(line).length > 0)
      trial.violation(`the proxy's log: ${line.slice(0, 500)}`)
  }
  await proxy.end()
}
