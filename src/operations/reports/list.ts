import type { ShopContext } from '../../shop/context.ts'
import { affiliatesReport } from './affiliates.ts'
import { couponsReport } from './coupons.ts'
import { ecSalesReport } from './ec-sales.ts'
import { giftCardsReport } from './gift-cards.ts'
import { journalReport } from './journal.ts'
import { ossReport } from './oss.ts'
import { paymentsReport } from './payments.ts'
import { productsReport } from './products.ts'
import type { Report } from './report.ts'
import { salesReport } from './sales.ts'
import { stockReport } from './stock.ts'
import { taxReport } from './tax.ts'

/** The reports, in the order of the help. */
export const reports: readonly Report<ShopContext>[] = [
  salesReport,
  productsReport,
  couponsReport,
  affiliatesReport,
  stockReport,
  taxReport,
  ossReport,
  ecSalesReport,
  giftCardsReport,
  journalReport,
  paymentsReport
]
