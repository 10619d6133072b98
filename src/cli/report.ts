import type { ShopCommand } from './command.ts'
import { definePayments } from './report-payments.ts'
import { defineShopReports } from './report-shop.ts'
import { defineTax } from './report-tax.ts'

export function define(program: ShopCommand): void {
  const group = program.command('report').description('sales, products, affiliates, stock, tax and payments')
  defineShopReports(group)
  defineTax(group)
  definePayments(group)
}
