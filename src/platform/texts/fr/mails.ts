/** The texts of emails to buyers in French. */
export const mails = {
  'mail.item': 'Article',
  'mail.price': 'Prix',
  'mail.orOpen': 'Ou ouvrez ce lien :',
  'mail.linkOnce': 'Vous pouvez utiliser ce lien une fois, jusqu’au {until}.',
  'mail.link30Days': 'Le lien est valable 30 jours. La page de votre commande vous en envoie un nouveau.',
  'mail.orderNumber': 'Numéro de commande',
  'mail.orderDate': 'Date de commande',
  'mail.shippingAddress': 'Adresse de livraison',
  'mail.billingAddress': 'Adresse de facturation',
  'mail.viewOrder': 'Voir votre commande',
  'mail.viewInvoice': 'Voir votre facture',
  'mail.viewCreditNote': 'Voir votre avoir',
  'mail.tryAgain': 'Réessayer',
  'mail.preview': 'Ceci est un aperçu avec des données d’exemple.',
  'mail.manualInstructions':
    'Veuillez virer le total sur notre compte bancaire, avec le numéro de commande comme référence. Nous expédions votre commande dès réception du paiement.',

  'mail.verify.subject': 'Veuillez confirmer votre e-mail pour {shop}',
  'mail.verify.text':
    'Un compte a été créé chez {shop} avec cette adresse e-mail. Veuillez confirmer que l’adresse est la vôtre.',
  'mail.verify.button': 'Confirmer mon e-mail',
  'mail.verify.ignore': 'Si vous n’avez pas créé ce compte, vous pouvez ignorer cet e-mail.',

  'mail.reset.subject': 'Choisissez un nouveau mot de passe pour {shop}',
  'mail.reset.text': 'Nous avons reçu une demande de réinitialisation du mot de passe de votre compte chez {shop}.',
  'mail.reset.button': 'Choisir un nouveau mot de passe',
  'mail.reset.ignore': 'Si vous n’avez rien demandé, vous pouvez ignorer cet e-mail. Votre mot de passe ne change pas.',

  'mail.newEmail.subject': 'Veuillez confirmer votre nouvel e-mail pour {shop}',
  'mail.newEmail.text':
    'Le titulaire d’un compte chez {shop} souhaite utiliser cette adresse e-mail. Veuillez confirmer qu’elle est la vôtre.',
  'mail.newEmail.button': 'Utiliser cet e-mail',
  'mail.newEmail.ignore': 'Si vous n’avez rien demandé, vous pouvez ignorer cet e-mail. Rien ne change.',

  'mail.emailRequested.subject': 'Votre e-mail pour {shop} va être modifié',
  'mail.emailRequested.text':
    'Une personne qui connaît votre mot de passe souhaite utiliser un autre e-mail pour votre compte chez {shop}. L’e-mail change dès que le lien envoyé à la nouvelle adresse est ouvert. Jusque-là, connectez-vous avec celui-ci.',
  'mail.emailRequested.notYou':
    'Si ce n’était pas vous, modifiez votre mot de passe maintenant. Cela arrête aussi la modification.',
  'mail.emailChanged.subject': 'Votre e-mail pour {shop} a été modifié',
  'mail.emailChanged.text':
    'Votre compte chez {shop} a désormais un autre e-mail. Vous ne pouvez plus vous connecter avec celui-ci.',
  'mail.emailChanged.notYou': 'Si ce n’était pas vous, contactez immédiatement la boutique.',
  'mail.emailChanged.button': 'Annuler la modification',
  'mail.emailChanged.undo':
    'Si ce n’était pas vous, annulez la modification avec ce lien, jusqu’au {until}. Vous choisissez un nouveau mot de passe, et tous les appareils sont déconnectés.',

  'mail.password.subject': 'Votre mot de passe pour {shop} a été modifié',
  'mail.password.text':
    'Le mot de passe de votre compte chez {shop} a été modifié. Tous les autres appareils ont été déconnectés.',
  'mail.password.address':
    'Nous avons supprimé l’adresse enregistrée, car une autre personne a pu la saisir. Saisissez-la de nouveau si elle était à vous.',
  'mail.password.billingEmail':
    'Le compte avait un autre e-mail de facturation. Nous l’avons supprimé. Saisissez-le de nouveau s’il est à vous.',
  'mail.password.emailChange': 'Nous avons arrêté une modification de l’e-mail qui n’était pas encore confirmée.',
  'mail.password.notYou':
    'Si vous ne l’avez pas modifié, réinitialisez immédiatement votre mot de passe et contactez la boutique.',

  'mail.code.subject': '{code} est votre code pour {shop}',
  'mail.code.text': 'Saisissez ce code chez {shop} : {code}',
  'mail.code.minutes': 'Il est valable 15 minutes.',
  'mail.code.ignore': 'Si vous ne l’avez pas demandé, ignorez cet e-mail. Ne communiquez pas le code.',

  'mail.dormant.subject': 'Votre compte chez {shop} va être supprimé',
  'mail.dormant.text':
    'Vous n’avez pas utilisé votre compte chez {shop} depuis longtemps. Nous le supprimons le {day}, avec votre nom, votre e-mail et vos adresses.',
  'mail.dormant.keep': 'Si vous souhaitez le garder, connectez-vous une fois avant ce jour.',
  'mail.dormant.leave': 'Si vous n’en avez plus besoin, vous n’avez rien à faire.',

  'mail.affiliate.rejectedSubject': 'Votre candidature comme partenaire de {shop}',
  'mail.affiliate.rejected':
    'Merci pour votre candidature comme partenaire de {shop}. Malheureusement, nous ne pouvons pas l’accepter.',
  'mail.affiliate.approvedSubject': 'Vous êtes maintenant partenaire de {shop}',
  'mail.affiliate.approved': 'Bienvenue ! Votre candidature comme partenaire de {shop} a été acceptée.',
  'mail.affiliate.code':
    'Votre code est {code}. Ajoutez ?ref={code} à n’importe quel lien vers la boutique. Vous gagnez une commission sur les commandes passées par ce lien.',
  'mail.affiliate.deactivatedSubject': 'Votre compte partenaire chez {shop}',
  'mail.affiliate.deactivated':
    'Nous avons désactivé votre compte partenaire chez {shop}. Les nouvelles commandes ne rapportent plus de commission.',
  'mail.affiliate.keeps': 'Vous gardez ce que vous avez gagné.',
  'mail.affiliate.reason': 'Raison : {reason}',
  'mail.referrals.subject': 'Vos recommandations chez {shop}',
  'mail.referrals.accepted': {
    one: 'Nous avons vérifié et accepté une de vos recommandations.',
    other: 'Nous avons vérifié et accepté {count} de vos recommandations.'
  },
  'mail.referrals.rejected': {
    one: 'Nous avons refusé une de vos recommandations. Elle ne rapporte pas de commission.',
    other: 'Nous avons refusé {count} de vos recommandations. Elles ne rapportent pas de commission.'
  },
  'mail.referrals.credited': {
    one: 'Nous vous avons attribué une commande que votre lien ou votre code promo n’avait pas enregistrée.',
    other: 'Nous vous avons attribué {count} commandes que votre lien ou votre code promo n’avait pas enregistrées.'
  },
  'mail.referrals.line': 'Recommandation {referral}, commande {order}',
  'mail.referrals.more': { one: 'Et une autre.', other: 'Et {count} autres.' },
  'mail.rate.subject': 'Votre taux de commission chez {shop}',
  'mail.rate.text': 'À partir du {day}, votre commission chez {shop} est de {rate}.',
  'mail.rate.before': 'Les commandes passées avant cette date conservent leur taux.',
  'mail.bonus.subject': 'Votre solde chez {shop}',
  'mail.bonus.added': 'Nous avons ajouté {amount} à ce que nous vous devons.',
  'mail.bonus.taken': 'Nous avons retiré {amount} de ce que nous vous devons.',
  'mail.payout.subject': '{shop} vous a versé {amount}',
  'mail.payout.text': 'Nous vous avons versé {amount}. Le relevé indique chaque commande.',
  'mail.payout.failedSubject': 'Un versement de {amount} de {shop} est revenu',
  'mail.payout.failed': 'Nous vous avons versé {amount}, et l’argent nous est revenu.',
  'mail.payout.again': 'Le montant est de nouveau dû. Dites-nous comment vous payer.',
  'mail.payout.button': 'Ouvrir le relevé',
  'mail.payout.csv': 'Le même en fichier CSV',

  'mail.receipt.subject': 'Votre commande {order} chez {shop}',
  'mail.receipt.renewalSubject': 'Votre abonnement chez {shop} est renouvelé : commande {order}',
  'mail.receipt.thanks': 'Merci pour votre commande chez {shop}.',
  'mail.receipt.renewed': 'Votre abonnement chez {shop} est renouvelé du {from} au {to}.',
  'mail.receipt.paid': 'Nous avons reçu votre paiement.',
  'mail.receipt.free': 'Il n’y a rien à payer.',
  'mail.receipt.enterAddress': 'Saisir l’adresse de livraison',
  'mail.receipt.whereTo':
    'Veuillez nous dire où expédier votre commande. Nous l’envoyons dès que nous avons l’adresse.',
  'mail.receipt.pickup': 'Nous vous écrirons quand vous pourrez retirer votre commande dans notre magasin.',
  'mail.receipt.preparing': 'Nous préparons l’expédition de votre commande.',
  'mail.receipt.holiday': 'Nous expédions de nouveau après le {day}.',
  'mail.receipt.files': 'Vos fichiers sont sur la page de votre commande : {names}.',
  'mail.receipt.endAnyTime':
    'Vous pouvez résilier votre abonnement à tout moment. Utilisez le lien de la page de votre commande.',

  'mail.claim.subject': 'Ouvrez votre compte pour votre commande {order} chez {shop}',
  'mail.claim.text': 'Il vous faut un compte chez {shop} pour utiliser ce que vous avez acheté : {names}.',
  'mail.claim.button': 'Ouvrir mon compte',

  'mail.refund.subject': 'Remboursement de votre commande {order} chez {shop}',
  'mail.refund.full': 'Nous avons remboursé {amount} pour votre commande {order} (remboursement total).',
  'mail.refund.partial': 'Nous avons remboursé {amount} pour votre commande {order} (remboursement partiel).',
  'mail.refund.toCard':
    'Le montant est de nouveau sur votre carte cadeau. Vous pouvez l’utiliser tout de suite avec votre code.',
  'mail.refund.days':
    'L’argent revient sur le moyen de paiement que vous avez utilisé. Il peut se passer quelques jours avant qu’il n’apparaisse sur votre relevé.',
  'mail.refundFailed.subject': 'Le remboursement de votre commande {order} chez {shop} ne vous est pas parvenu',
  'mail.refundFailed.text':
    'Nous avons remboursé {amount} pour votre commande {order}, mais votre banque ou votre carte nous a retourné l’argent.',
  'mail.refundFailed.owed':
    'Nous vous devons toujours {amount}. Nous le renverrons, ou nous vous contacterons pour trouver une autre solution.',

  'mail.changed.subject': 'Nous avons modifié votre commande {order} chez {shop}',
  'mail.changed.text': 'Nous avons modifié votre commande {order} chez {shop}.',
  'mail.changed.before': 'Avant',
  'mail.changed.now': 'Maintenant',
  'mail.changed.name': 'Nom',
  'mail.changed.shipping': 'Livraison',
  'mail.changed.wrong': 'Si ce n’est pas ce que vous souhaitiez, répondez à cet e-mail.',

  'mail.changed.pay': 'Payer {amount}',
  'mail.changed.due':
    'La modification coûte {amount}. Veuillez payer avant le {until}. D’ici là, votre commande reste telle quelle.',
  'mail.dropped.subject': 'Votre commande {order} chez {shop} reste inchangée',
  'mail.dropped.text':
    'Nous devions modifier votre commande {order}. Le paiement de la commande {addition} n’est pas arrivé : rien ne change.',
  'mail.dropped.still': 'Si vous souhaitez toujours cette modification, répondez à cet e-mail.',

  'mail.return.subject': 'Retour {number} de votre commande {order} chez {shop}',
  'mail.return.text': 'Nous attendons le retour d’articles de votre commande {order}.',
  'mail.return.instructions': 'Veuillez nous renvoyer les articles avec le numéro du retour.',
  'mail.return.refund': 'Dès leur arrivée, nous remboursons ce que vous avez payé pour eux.',
  'mail.return.exchange': 'Dès leur arrivée, nous vous envoyons l’échange.',
  'mail.return.number': 'Numéro du retour',
  'mail.return.goods': 'Articles renvoyés',

  'mail.shipped.subject': 'Votre commande {order} chez {shop} est en route',
  'mail.shipped.subjectPart': 'Une partie de votre commande {order} chez {shop} est en route',
  'mail.shipped.text': 'Nous avons expédié votre commande.',
  'mail.shipped.textPart': 'Nous avons expédié une partie de votre commande.',
  'mail.shipped.with': 'Nous avons expédié votre commande avec {carrier}.',
  'mail.shipped.withPart': 'Nous avons expédié une partie de votre commande avec {carrier}.',
  'mail.shipped.rest': 'Nous vous écrirons quand le reste sera en route.',
  'mail.shipped.tracking': 'Numéro de suivi',
  'mail.shipped.track': 'Suivre votre colis',
  'mail.shipped.parcel': 'Dans ce colis',
  'mail.pickup.subject': 'Votre commande {order} chez {shop} est prête à être retirée',
  'mail.pickup.subjectPart': 'Une partie de votre commande {order} chez {shop} est prête à être retirée',
  'mail.pickup.text': 'Vous pouvez retirer votre commande dans notre magasin. Veuillez apporter le numéro de commande.',
  'mail.pickup.textPart':
    'Vous pouvez retirer une partie de votre commande dans notre magasin. Veuillez apporter le numéro de commande.',
  'mail.pickup.rest': 'Nous vous écrirons quand le reste sera prêt.',
  'mail.pickup.ready': 'Prêt pour vous',

  'mail.received.subject': 'Nous avons reçu votre commande {order} chez {shop}',
  'mail.received.pay': 'Veuillez payer {total}.',
  'mail.received.payBy': 'À payer avant le',
  'mail.received.bank':
    'Votre banque n’a pas encore confirmé le paiement. Nous vous écrirons quand elle l’aura fait. Vous n’avez rien à faire.',
  'mail.received.check':
    'Nous avons reçu votre paiement de {total}. Nous devons vérifier la commande avant de la confirmer. Nous vous écrirons.',
  'mail.failed.subject': 'Le paiement de votre commande {order} chez {shop} n’a pas abouti',
  'mail.failed.text': 'Le paiement de {total} pour votre commande {order} n’a pas abouti. Rien n’a été débité.',
  'mail.failed.again':
    'Vous pouvez réessayer, aussi avec un autre moyen de paiement. D’ici là, les articles ne vous sont pas réservés.',
  'mail.failed.leave': 'Si vous ne voulez plus de la commande, vous n’avez rien à faire.',
  'mail.link.subject': 'Votre commande {order} chez {shop} : le lien pour la payer',
  'mail.link.text':
    'Nous avons préparé la commande {order} pour vous. Veuillez payer {total} avec ce lien avant le {until}. D’ici là, nous gardons les articles pour vous.',
  'mail.link.address': 'La page demande votre adresse et ajoute la livraison.',
  'mail.link.button': 'Payer la commande',
  'mail.link.leave': 'Si vous ne voulez pas de la commande, vous n’avez rien à faire.',
  'mail.reminder.subject': 'Votre commande {order} chez {shop} n’est pas encore payée',
  'mail.reminder.text':
    'Nous n’avons pas encore reçu votre paiement pour la commande {order}. Nous annulerons la commande le {day}.',
  'mail.reminder.paid': 'Si vous avez déjà payé, vous n’avez rien d’autre à faire.',

  'mail.renewalFailed.subject': 'Un paiement pour votre abonnement chez {shop} n’a pas abouti',
  'mail.renewalFailed.text': 'Nous n’avons pas pu débiter {amount} pour votre abonnement à {names}.',
  'mail.renewalFailed.last': 'C’était le dernier essai.',
  'mail.renewalFailed.next': 'Nous réessayons le {day}.',
  'mail.renewalFailed.button': 'Payer avec une autre carte',
  'mail.subscription.access': 'Vous gardez l’accès jusqu’au {day}.',
  'mail.subscription.noCharge': 'Plus rien ne sera débité.',
  'mail.cancelled.subject': 'Votre abonnement chez {shop} est résilié',
  'mail.cancelled.text': 'Votre abonnement à {names} est résilié.',
  'mail.cancelled.ends': 'Il prend fin le {day}.',
  'mail.cancelled.access': 'Vous gardez l’accès jusque-là. Plus rien ne sera débité.',
  'mail.ended.subject': 'Votre abonnement chez {shop} a pris fin',
  'mail.ended.text': 'Votre abonnement à {names} a pris fin.',
  'mail.end.subject': 'Résiliez votre abonnement chez {shop} : commande {order}',
  'mail.end.text':
    'Vous, ou une autre personne qui a le lien de votre commande, avez demandé à résilier votre abonnement à {names}.',
  'mail.end.open': 'Ouvrez ce lien pour le résilier. Si vous souhaitez le garder, vous n’avez rien à faire.',
  'mail.end.button': 'Résilier mon abonnement',
  'mail.desk.subject': 'Votre accès au bureau de {shop}',
  'mail.desk.text':
    'Vous avez reçu un accès au bureau de {shop} dans le navigateur. Ouvrez le lien sur le téléphone ou l’ordinateur avec lequel vous travaillez, et créez-y une clé d’accès.',
  'mail.desk.button': 'Créer une clé d’accès',
  'mail.desk.ignore':
    'Si vous n’attendiez pas ce message, n’ouvrez pas le lien et prévenez le propriétaire de la boutique.',

  'giftCard.bought': 'Votre carte cadeau',
  'giftCard.keep':
    'Gardez ce code pour vous : toute personne qui l’a peut utiliser la carte cadeau. Nous l’avons aussi envoyé à votre adresse e-mail.',
  'giftCard.code': 'Code',
  'giftCard.balance': 'Solde',
  'giftCard.until': 'Valable jusqu’au',
  'giftCard.message': 'Message',
  'mail.giftCard.subject': 'Une carte cadeau pour {shop}',
  'mail.giftCard.text': 'Vous avez reçu une carte cadeau pour {shop}. Saisissez son code au moment de payer.',
  'mail.giftCard.button': 'Ouvrir {shop}',
  'mail.giftCard.keep': 'Conservez cet e-mail : toute personne qui a le code peut utiliser la carte cadeau.'
} as const
