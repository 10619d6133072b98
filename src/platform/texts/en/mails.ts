/** The texts of emails to buyers in English. */
export const mails = {
  'mail.item': 'Item',
  'mail.price': 'Price',
  'mail.orOpen': 'Or open this link:',
  'mail.linkOnce': 'You can use this link once, until {until}.',
  'mail.link30Days': 'The link works for 30 days. The page of your order sends you a new one.',
  'mail.orderNumber': 'Order number',
  'mail.orderDate': 'Order date',
  'mail.shippingAddress': 'Shipping address',
  'mail.billingAddress': 'Billing address',
  'mail.viewOrder': 'View your order',
  'mail.viewInvoice': 'View your invoice',
  'mail.viewCreditNote': 'View your credit note',
  'mail.tryAgain': 'Try again',
  'mail.preview': 'This is a preview with sample data.',
  'mail.manualInstructions':
    'Please transfer the total to our bank account, with the order number as the reference. We ship your order when the payment arrives.',

  'mail.verify.subject': 'Please verify your email for {shop}',
  'mail.verify.text':
    'An account at {shop} was created with this email address. Please confirm that the address is yours.',
  'mail.verify.button': 'Verify my email',
  'mail.verify.ignore': 'If you did not create this account, you can ignore this email.',

  'mail.reset.subject': 'Choose a new password for {shop}',
  'mail.reset.text': 'We received a request to reset the password of your account at {shop}.',
  'mail.reset.button': 'Choose a new password',
  'mail.reset.ignore': 'If you did not request this, you can ignore this email. Your password does not change.',

  'mail.newEmail.subject': 'Please confirm your new email for {shop}',
  'mail.newEmail.text':
    'The owner of an account at {shop} wants to use this email address. Please confirm that it is yours.',
  'mail.newEmail.button': 'Use this email',
  'mail.newEmail.ignore': 'If you did not request this, you can ignore this email. Nothing changes.',

  'mail.emailRequested.subject': 'Your email for {shop} is about to change',
  'mail.emailRequested.text':
    'Someone who knows your password wants to use another email for your account at {shop}. The email changes when they open the link that we have sent to the new address. Until then, log in with this one.',
  'mail.emailRequested.notYou': 'If it was not you, change your password now. This also stops the change.',
  'mail.emailChanged.subject': 'Your email for {shop} was changed',
  'mail.emailChanged.text': 'Your account at {shop} has another email now. You cannot log in with this one any more.',
  'mail.emailChanged.notYou': 'If it was not you, contact the shop immediately.',
  'mail.emailChanged.button': 'Undo the change',
  'mail.emailChanged.undo':
    'If it was not you, undo the change with this link, until {until}. You choose a new password, and all devices are logged out.',

  'mail.password.subject': 'Your password for {shop} was changed',
  'mail.password.text': 'The password of your account at {shop} was changed. All other devices were logged out.',
  'mail.password.address':
    'We removed the saved address, because someone else may have entered it. Enter it again if it was yours.',
  'mail.password.billingEmail':
    'The account had a billing email other than this one. We removed it. Enter it again if it is yours.',
  'mail.password.emailChange': 'We stopped a change of the email that was waiting for its link.',
  'mail.password.notYou': 'If you did not change it, reset your password immediately and contact the shop.',

  'mail.code.subject': '{code} is your code for {shop}',
  'mail.code.text': 'Enter this code at {shop}: {code}',
  'mail.code.minutes': 'It works for 15 minutes.',
  'mail.code.ignore': 'If you did not request it, ignore this email. Do not share the code.',

  'mail.dormant.subject': 'Your account at {shop} will be deleted',
  'mail.dormant.text':
    'You have not used your account at {shop} for a long time. We delete it on {day}, with your name, email and addresses.',
  'mail.dormant.keep': 'If you want to keep it, log in once before that day.',
  'mail.dormant.leave': 'If you no longer need it, you do not have to do anything.',

  'mail.affiliate.rejectedSubject': 'Your affiliate application at {shop}',
  'mail.affiliate.rejected':
    'Thank you for applying to become an affiliate of {shop}. Unfortunately, we cannot accept your application.',
  'mail.affiliate.approvedSubject': 'You are now an affiliate of {shop}',
  'mail.affiliate.approved': 'Welcome! Your application to become an affiliate of {shop} was approved.',
  'mail.affiliate.code':
    'Your code is {code}. Add ?ref={code} to any link to the shop. You earn a commission on orders placed through that link.',
  'mail.affiliate.deactivatedSubject': 'Your affiliate account at {shop}',
  'mail.affiliate.deactivated': 'We have deactivated your affiliate account at {shop}. New orders earn no commission.',
  'mail.affiliate.keeps': 'You keep what you have earned.',
  'mail.affiliate.reason': 'Reason: {reason}',
  'mail.referrals.subject': 'Your referrals at {shop}',
  'mail.referrals.accepted': {
    one: 'We have checked and accepted one referral of yours.',
    other: 'We have checked and accepted {count} referrals of yours.'
  },
  'mail.referrals.rejected': {
    one: 'We have rejected one referral of yours. It earns no commission.',
    other: 'We have rejected {count} referrals of yours. They earn no commission.'
  },
  'mail.referrals.credited': {
    one: 'We have credited you with an order that your link or coupon had missed.',
    other: 'We have credited you with {count} orders that your link or coupon had missed.'
  },
  'mail.referrals.line': 'Referral {referral}, order {order}',
  'mail.referrals.more': { one: 'And one more.', other: 'And {count} more.' },
  'mail.rate.subject': 'Your commission rate at {shop}',
  'mail.rate.text': 'From {day} on, you earn a commission of {rate} at {shop}.',
  'mail.rate.before': 'Orders that were placed before keep their rate.',
  'mail.bonus.subject': 'Your balance at {shop}',
  'mail.bonus.added': 'We have added {amount} to what we owe you.',
  'mail.bonus.taken': 'We have taken {amount} from what we owe you.',
  'mail.payout.subject': '{shop} has paid you {amount}',
  'mail.payout.text': 'We have paid you {amount}. The statement lists each order.',
  'mail.payout.failedSubject': 'A payment of {amount} from {shop} came back',
  'mail.payout.failed': 'We have paid you {amount}, and the money came back to us.',
  'mail.payout.again': 'The amount is due again. Please tell us how to pay you.',
  'mail.payout.button': 'Open the statement',
  'mail.payout.csv': 'The same as a CSV file',

  'mail.receipt.subject': 'Your order {order} at {shop}',
  'mail.receipt.renewalSubject': 'Your subscription at {shop} is renewed: order {order}',
  'mail.receipt.thanks': 'Thank you for your order at {shop}.',
  'mail.receipt.renewed': 'Your subscription at {shop} is renewed from {from} to {to}.',
  'mail.receipt.paid': 'We have received your payment.',
  'mail.receipt.free': 'There is nothing to pay.',
  'mail.receipt.enterAddress': 'Enter the address to ship to',
  'mail.receipt.whereTo': 'Please tell us where to ship your order. We send it as soon as we have the address.',
  'mail.receipt.pickup': 'We will email you when you can pick up your order in our shop.',
  'mail.receipt.preparing': 'We are preparing your order for shipping.',
  'mail.receipt.holiday': 'We ship again after {day}.',
  'mail.receipt.files': 'Your files are on the page of your order: {names}.',
  'mail.receipt.endAnyTime': 'You can end your subscription at any time. Use the link on the page of your order.',

  'mail.claim.subject': 'Open your account for your order {order} at {shop}',
  'mail.claim.text': 'You need an account at {shop} to use what you bought: {names}.',
  'mail.claim.button': 'Open my account',

  'mail.refund.subject': 'Refund for your order {order} at {shop}',
  'mail.refund.full': 'We have refunded {amount} for your order {order} (full refund).',
  'mail.refund.partial': 'We have refunded {amount} for your order {order} (partial refund).',
  'mail.refund.toCard': 'The amount is back on your gift card. You can use it at once, with the code that you have.',
  'mail.refund.days':
    'The money goes back to the payment method you used. It can take a few days to appear on your statement.',
  'mail.refundFailed.subject': 'The refund for your order {order} at {shop} did not reach you',
  'mail.refundFailed.text':
    'We refunded {amount} for your order {order}, but your bank or card provider returned the money to us.',
  'mail.refundFailed.owed': 'We still owe you {amount}. We will send it again, or contact you to find another way.',

  'mail.changed.subject': 'We have changed your order {order} at {shop}',
  'mail.changed.text': 'We have changed your order {order} at {shop}.',
  'mail.changed.before': 'Before',
  'mail.changed.now': 'Now',
  'mail.changed.name': 'Name',
  'mail.changed.shipping': 'Shipping',
  'mail.changed.wrong': 'If this is not what you wanted, please reply to this email.',

  'mail.changed.pay': 'Pay {amount}',
  'mail.changed.due': 'The change costs {amount}. Please pay by {until}. Until then, your order stays as it was.',
  'mail.dropped.subject': 'Your order {order} at {shop} stays as it was',
  'mail.dropped.text':
    'We were going to change your order {order}. The payment of order {addition} for it has not arrived, so nothing changes.',
  'mail.dropped.still': 'If you still want the change, please reply to this email.',

  'mail.return.subject': 'Return {number} of your order {order} at {shop}',
  'mail.return.text': 'We expect goods of your order {order} back.',
  'mail.return.instructions': 'Please send the goods back to us, with the number of the return.',
  'mail.return.refund': 'When they are here, we return what you paid for them.',
  'mail.return.exchange': 'When they are here, we send you the exchange.',
  'mail.return.number': 'Number of the return',
  'mail.return.goods': 'What comes back',

  'mail.shipped.subject': 'Your order {order} at {shop} is on its way',
  'mail.shipped.subjectPart': 'A part of your order {order} at {shop} is on its way',
  'mail.shipped.text': 'We have shipped your order.',
  'mail.shipped.textPart': 'We have shipped a part of your order.',
  'mail.shipped.with': 'We have shipped your order with {carrier}.',
  'mail.shipped.withPart': 'We have shipped a part of your order with {carrier}.',
  'mail.shipped.rest': 'We will email you when the rest is on its way.',
  'mail.shipped.tracking': 'Tracking number',
  'mail.shipped.track': 'Track your parcel',
  'mail.shipped.parcel': 'In this parcel',
  'mail.pickup.subject': 'Your order {order} at {shop} is ready to be picked up',
  'mail.pickup.subjectPart': 'A part of your order {order} at {shop} is ready to be picked up',
  'mail.pickup.text': 'You can pick up your order in our shop. Please bring the order number.',
  'mail.pickup.textPart': 'You can pick up a part of your order in our shop. Please bring the order number.',
  'mail.pickup.rest': 'We will email you when the rest is ready.',
  'mail.pickup.ready': 'Ready for you',

  'mail.received.subject': 'We have received your order {order} at {shop}',
  'mail.received.pay': 'Please pay {total}.',
  'mail.received.payBy': 'Please pay by',
  'mail.received.bank':
    "Your bank has not confirmed the payment yet. We will email you when it has. You don't need to do anything.",
  'mail.received.check':
    'We have received your payment of {total}. We have to check the order before we confirm it. We will email you.',
  'mail.failed.subject': 'The payment for your order {order} at {shop} did not go through',
  'mail.failed.text': 'The payment of {total} for your order {order} did not go through. You were not charged.',
  'mail.failed.again':
    'You can try again, also with another payment method. Until then the items are not reserved for you.',
  'mail.failed.leave': "If you don't want the order any more, you don't need to do anything.",
  'mail.link.subject': 'Your order {order} at {shop}: the link to pay it',
  'mail.link.text':
    'We have prepared order {order} for you. Please pay {total} with this link by {until}. Until then, we keep the items for you.',
  'mail.link.address': 'The page asks for your address, and adds the shipping.',
  'mail.link.button': 'Pay the order',
  'mail.link.leave': "If you don't want the order, you don't need to do anything.",
  'mail.reminder.subject': 'Your order {order} at {shop} is not paid yet',
  'mail.reminder.text': 'We have not received your payment for order {order} yet. We will cancel the order on {day}.',
  'mail.reminder.paid': "If you have already paid, you don't need to do anything else.",

  'mail.renewalFailed.subject': 'A payment for your subscription at {shop} did not go through',
  'mail.renewalFailed.text': 'We could not charge {amount} for your subscription to {names}.',
  'mail.renewalFailed.last': 'This was the last try.',
  'mail.renewalFailed.next': 'We try again on {day}.',
  'mail.renewalFailed.button': 'Pay with another card',
  'mail.subscription.access': 'You keep your access until {day}.',
  'mail.subscription.noCharge': 'You will not be charged again.',
  'mail.cancelled.subject': 'Your subscription at {shop} is cancelled',
  'mail.cancelled.text': 'Your subscription to {names} is cancelled.',
  'mail.cancelled.ends': 'It ends on {day}.',
  'mail.cancelled.access': 'You keep your access until then. You will not be charged again.',
  'mail.ended.subject': 'Your subscription at {shop} has ended',
  'mail.ended.text': 'Your subscription to {names} has ended.',
  'mail.end.subject': 'End your subscription at {shop}: order {order}',
  'mail.end.text': 'You or another person who has the link of your order asked to end your subscription to {names}.',
  'mail.end.open': 'Open this link to end it. If you want to keep it, you do not need to do anything.',
  'mail.end.button': 'End my subscription',
  'mail.desk.subject': 'Your access to the desk of {shop}',
  'mail.desk.text':
    'You have been given access to the desk of {shop}, its office in the browser. Open the link on the phone or computer that you work with, and make a passkey there.',
  'mail.desk.button': 'Make a passkey',
  'mail.desk.ignore': 'If you did not expect this, do not open the link, and tell the owner of the shop.',

  'giftCard.bought': 'Your gift card',
  'giftCard.keep':
    'Keep this code to yourself: anyone who has it can use the gift card. We have also sent it to your email.',
  'giftCard.code': 'Code',
  'giftCard.balance': 'Balance',
  'giftCard.until': 'Valid until',
  'giftCard.message': 'Message',
  'mail.giftCard.subject': 'A gift card for {shop}',
  'mail.giftCard.text': 'You have received a gift card for {shop}. Enter its code when you pay.',
  'mail.giftCard.button': 'Open {shop}',
  'mail.giftCard.keep': 'Keep this email safe: anyone who has the code can use the gift card.'
} as const
