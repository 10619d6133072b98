import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Counts } from '../catalog/changes.ts'
import type { CampaignInput, PlanInput } from './input.ts'
import type { PlanRow } from './rows.ts'
import { campaigns, plans } from './schema.ts'

/** Creates and updates the plans of a file by slug. Other plans do not change. */
export function applyPlans(tx: Tx, inputs: readonly PlanInput[]): Counts {
  return count(inputs, ({ pro, ...plan }) => {
    const wanted = { ...plan, isPro: pro }
    const known = findPlan(tx, plan.slug)
    if (known === undefined) tx.orm.insert(plans).values(wanted).run()
    else if (differs(known, wanted)) tx.orm.update(plans).set(wanted).where(eq(plans.id, known.id)).run()
    else return 'unchanged'
    return known === undefined ? 'created' : 'updated'
  })
}

/** Creates and updates the donation campaigns of a file by slug. Other campaigns do not change. */
export function applyCampaigns(tx: Tx, inputs: readonly CampaignInput[]): Counts {
  return count(inputs, ({ slug, name }) => {
    const known = findCampaign(tx, slug)
    if (known === undefined) tx.orm.insert(campaigns).values({ slug, name }).run()
    else if (known.name !== name) tx.orm.update(campaigns).set({ name }).where(eq(campaigns.id, known.id)).run()
    else return 'unchanged'
    return known === undefined ? 'created' : 'updated'
  })
}

/**
 * Plans and campaigns in the import format, by slug, so that an exported catalog contains what its products grant.
 */
export function exportBenefits(db: Db): { plans: PlanInput[]; campaigns: CampaignInput[] } {
  const planRows = db.orm.select().from(plans).orderBy(plans.slug).all()
  const campaignRows = db.orm.select().from(campaigns).orderBy(campaigns.slug).all()
  return {
    plans: planRows.map(({ slug, name, module, rank, isPro }) => ({ slug, name, module, rank, pro: isPro })),
    campaigns: campaignRows.map(({ slug, name }) => ({ slug, name }))
  }
}

/** The membership plan with a slug. */
export function findPlan(db: Db, slug: string): PlanRow | undefined {
  return db.orm.select().from(plans).where(eq(plans.slug, slug)).get()
}

function findCampaign(db: Db, slug: string) {
  return db.orm.select().from(campaigns).where(eq(campaigns.slug, slug)).get()
}

/**
 * The plan with a slug, created if it is missing: a payment must not fail because an operator has not described the
 * plan yet. A created plan has the lowest rank and is not pro.
 */
export function ensurePlan(tx: Tx, slug: string, module: 'A' | 'B'): PlanRow {
  const known = findPlan(tx, slug)
  return known ?? tx.orm.insert(plans).values({ slug, name: slug, module, rank: 0, isPro: false }).returning().get()
}

/** The id of the campaign with a slug, created if it is missing, for the same reason. */
export function ensureCampaign(tx: Tx, slug: string): number {
  const known = findCampaign(tx, slug)
  return (known ?? tx.orm.insert(campaigns).values({ slug, name: slug }).returning().get()).id
}

function count<T>(inputs: readonly T[], apply: (entry: T) => keyof Counts): Counts {
  const counts: Counts = { created: 0, updated: 0, unchanged: 0 }
  for (const entry of inputs) counts[apply(entry)] += 1
  return counts
}

function differs(known: PlanRow, { name, module, rank, isPro }: Omit<PlanRow, 'id'>): boolean {
  return known.name !== name || known.module !== module || known.rank !== rank || known.isPro !== isPro
}
