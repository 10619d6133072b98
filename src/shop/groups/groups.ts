import { asc, count, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { statement, write } from '../../platform/db/database.ts'
import type { Db } from '../../platform/db/database.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { definedFields, line, percent, slug } from '../../platform/input-fields.ts'
import { toIso } from '../../platform/iso-time.ts'
import { findPlan } from '../benefits/plans.ts'
import { plans } from '../benefits/schema.ts'
import { customerGroups, groupMembers, groupPrices } from './schema.ts'

export type GroupRow = typeof customerGroups.$inferSelect

const all = statement((orm) => orm.select().from(customerGroups).orderBy(asc(customerGroups.slug)).prepare())
const bySlug = statement((orm) =>
  orm
    .select()
    .from(customerGroups)
    .where(eq(customerGroups.slug, sql.placeholder('slug')))
    .prepare()
)

/** All groups, by their slugs. */
export function listGroups(db: Db): GroupRow[] {
  return all(db).all()
}

/** The group with a slug. @throws AppError NOT_FOUND, which names the groups that there are */
export function getGroup(db: Db, slug: string): GroupRow {
  const group = bySlug(db).get({ slug })
  if (group !== undefined) return group
  const known = listGroups(db).map((row) => row.slug)
  const others = known.length === 0 ? 'There are none yet.' : `There are: ${known.slice(0, 20).join(', ')}.`
  throw new AppError('NOT_FOUND', `No customer group is called ${slug}. ${others}`)
}

/** How buyers of a group see prices: as the shop shows them to everyone, or with or without tax. */
export const taxViews = ['shop', 'with', 'without'] as const
const taxView = z.enum(taxViews, `Must be ${taxViews.join(', ')}.`)

const groupFields = z.object({
  name: line(100).optional(),
  percent: percent().nullable().optional(),
  tax: taxView.optional(),
  /** The slug of a plan. */
  membership: z.string().nullable().optional()
})
const newGroup = groupFields.extend({ slug: slug() })

/** What an operator types of a group; a field that is missing stays, and null takes away. */
export type GroupFields = {
  name?: string | undefined
  percent?: number | string | null | undefined
  tax?: string | undefined
  membership?: string | null | undefined
}

/**
 * Creates a group of customers. Without a name, its slug is the name.
 *
 * @throws AppError VALIDATION_FAILED with the field; NOT_FOUND for an unknown plan; CONFLICT for a slug that exists
 */
export function createGroup(db: Db, fields: GroupFields & { slug: string }, now: number): GroupRow {
  const { slug, name = slug, ...others } = parseWith(newGroup, fields)
  return write(db, (tx) => {
    if (bySlug(tx).get({ slug }) !== undefined)
      throw new AppError('CONFLICT', `There is a customer group ${slug} already.`)
    return tx.orm
      .insert(customerGroups)
      .values({ slug, name, ...columnsOf(tx, others), createdAt: now })
      .returning()
      .get()
  })
}

/** Changes a group; for purchases from now on. @throws AppError as createGroup; NOT_FOUND */
export function setGroup(db: Db, slug: string, fields: GroupFields): GroupRow {
  const { name, ...others } = parseWith(groupFields, fields)
  return write(db, (tx) => {
    const { id } = getGroup(tx, slug)
    const changes = definedFields({ name, ...columnsOf(tx, others) })
    if (Object.keys(changes).length > 0)
      tx.orm.update(customerGroups).set(changes).where(eq(customerGroups.id, id)).run()
    return getGroup(tx, slug)
  })
}

function columnsOf(db: Db, { percent, tax, membership }: Omit<z.output<typeof groupFields>, 'name'>) {
  return {
    percentBps: percent,
    showsTax: tax === 'shop' ? null : tax,
    planId: membership == null ? membership : planIdOf(db, membership)
  }
}

function planIdOf(db: Db, slug: string): number {
  const plan = findPlan(db, slug)
  if (plan === undefined) throw new AppError('NOT_FOUND', `The plan "${slug}" does not exist.`)
  return plan.id
}

/** Deletes a group with its price list. Its members keep their accounts, and orders keep their prices. @throws AppError NOT_FOUND */
export function deleteGroup(db: Db, slug: string): GroupRow {
  return write(db, (tx) => {
    const group = getGroup(tx, slug)
    tx.orm.delete(groupMembers).where(eq(groupMembers.groupId, group.id)).run()
    tx.orm.delete(groupPrices).where(eq(groupPrices.groupId, group.id)).run()
    tx.orm.delete(customerGroups).where(eq(customerGroups.id, group.id)).run()
    return group
  })
}

/** A group as the command line shows it. `members` are those that were added, without those by membership. */
export function toGroup(db: Db, { id, slug, name, percentBps, showsTax, planId, createdAt }: GroupRow) {
  const plan = planId === null ? undefined : db.orm.select().from(plans).where(eq(plans.id, planId)).get()
  const members = db.orm.select({ of: count() }).from(groupMembers).where(eq(groupMembers.groupId, id)).get()
  const prices = db.orm.select({ of: count() }).from(groupPrices).where(eq(groupPrices.groupId, id)).get()
  return {
    slug,
    name,
    percent: percentBps === null ? null : percentBps / 100,
    tax: showsTax ?? ('shop' as const),
    membership: plan?.slug ?? null,
    members: members?.of ?? 0,
    prices: prices?.of ?? 0,
    createdAt: toIso(createdAt)
  }
}

export type GroupView = ReturnType<typeof toGroup>
