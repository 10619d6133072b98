/** The texts of emails to buyers in German. */
export const mails = {
  'mail.item': 'Artikel',
  'mail.price': 'Preis',
  'mail.orOpen': 'Oder öffnen Sie diesen Link:',
  'mail.linkOnce': 'Sie können diesen Link einmal verwenden, bis {until}.',
  'mail.link30Days': 'Der Link gilt 30 Tage. Auf der Seite Ihrer Bestellung erhalten Sie einen neuen.',
  'mail.orderNumber': 'Bestellnummer',
  'mail.orderDate': 'Bestelldatum',
  'mail.shippingAddress': 'Lieferadresse',
  'mail.billingAddress': 'Rechnungsadresse',
  'mail.viewOrder': 'Bestellung ansehen',
  'mail.viewInvoice': 'Rechnung ansehen',
  'mail.viewCreditNote': 'Rechnungskorrektur ansehen',
  'mail.tryAgain': 'Erneut versuchen',
  'mail.preview': 'Dies ist eine Vorschau mit Beispieldaten.',
  'mail.manualInstructions':
    'Bitte überweisen Sie den Gesamtbetrag auf unser Bankkonto und geben Sie die Bestellnummer als Verwendungszweck an. Wir versenden Ihre Bestellung, sobald die Zahlung eingegangen ist.',

  'mail.verify.subject': 'Bitte bestätigen Sie Ihre E-Mail-Adresse für {shop}',
  'mail.verify.text':
    'Mit dieser E-Mail-Adresse wurde bei {shop} ein Konto angelegt. Bitte bestätigen Sie, dass die Adresse Ihnen gehört.',
  'mail.verify.button': 'E-Mail-Adresse bestätigen',
  'mail.verify.ignore': 'Wenn Sie dieses Konto nicht angelegt haben, können Sie diese E-Mail ignorieren.',

  'mail.reset.subject': 'Wählen Sie ein neues Passwort für {shop}',
  'mail.reset.text': 'Wir haben eine Anfrage erhalten, das Passwort Ihres Kontos bei {shop} zurückzusetzen.',
  'mail.reset.button': 'Neues Passwort wählen',
  'mail.reset.ignore':
    'Wenn Sie das nicht angefordert haben, können Sie diese E-Mail ignorieren. Ihr Passwort bleibt unverändert.',

  'mail.newEmail.subject': 'Bitte bestätigen Sie Ihre neue E-Mail-Adresse für {shop}',
  'mail.newEmail.text':
    'Der Inhaber eines Kontos bei {shop} möchte diese E-Mail-Adresse verwenden. Bitte bestätigen Sie, dass sie Ihnen gehört.',
  'mail.newEmail.button': 'Diese E-Mail-Adresse verwenden',
  'mail.newEmail.ignore':
    'Wenn Sie das nicht angefordert haben, können Sie diese E-Mail ignorieren. Es ändert sich nichts.',

  'mail.emailRequested.subject': 'Ihre E-Mail-Adresse für {shop} soll geändert werden',
  'mail.emailRequested.text':
    'Jemand, der Ihr Passwort kennt, möchte für Ihr Konto bei {shop} eine andere E-Mail-Adresse verwenden. Sie ändert sich, sobald der Link geöffnet wird, den wir an die neue Adresse gesendet haben. Bis dahin melden Sie sich mit dieser Adresse an.',
  'mail.emailRequested.notYou': 'Wenn Sie es nicht waren, ändern Sie jetzt Ihr Passwort. Das stoppt auch die Änderung.',
  'mail.emailChanged.subject': 'Ihre E-Mail-Adresse für {shop} wurde geändert',
  'mail.emailChanged.text':
    'Ihr Konto bei {shop} hat jetzt eine andere E-Mail-Adresse. Mit dieser können Sie sich nicht mehr anmelden.',
  'mail.emailChanged.notYou': 'Wenn Sie es nicht waren, wenden Sie sich sofort an den Shop.',
  'mail.emailChanged.button': 'Änderung rückgängig machen',
  'mail.emailChanged.undo':
    'Wenn Sie es nicht waren, machen Sie die Änderung mit diesem Link rückgängig, bis {until}. Sie wählen dabei ein neues Passwort, und alle Geräte werden abgemeldet.',

  'mail.password.subject': 'Ihr Passwort für {shop} wurde geändert',
  'mail.password.text': 'Das Passwort Ihres Kontos bei {shop} wurde geändert. Alle anderen Geräte wurden abgemeldet.',
  'mail.password.address':
    'Wir haben die gespeicherte Adresse entfernt, weil sie von jemand anderem stammen könnte. Geben Sie sie erneut ein, wenn es Ihre war.',
  'mail.password.billingEmail':
    'Das Konto hatte eine andere E-Mail-Adresse für Rechnungen. Wir haben sie entfernt. Geben Sie sie erneut ein, wenn es Ihre ist.',
  'mail.password.emailChange': 'Wir haben eine Änderung der E-Mail-Adresse gestoppt, die noch nicht bestätigt war.',
  'mail.password.notYou':
    'Wenn Sie es nicht geändert haben, setzen Sie Ihr Passwort sofort zurück und wenden Sie sich an den Shop.',

  'mail.code.subject': '{code} ist Ihr Code für {shop}',
  'mail.code.text': 'Geben Sie diesen Code bei {shop} ein: {code}',
  'mail.code.minutes': 'Er gilt 15 Minuten.',
  'mail.code.ignore':
    'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail. Geben Sie den Code nicht weiter.',

  'mail.dormant.subject': 'Ihr Konto bei {shop} wird gelöscht',
  'mail.dormant.text':
    'Sie haben Ihr Konto bei {shop} lange nicht benutzt. Wir löschen es am {day}, mit Ihrem Namen, Ihrer E-Mail-Adresse und Ihren Adressen.',
  'mail.dormant.keep': 'Wenn Sie es behalten möchten, melden Sie sich vorher einmal an.',
  'mail.dormant.leave': 'Wenn Sie es nicht mehr brauchen, müssen Sie nichts tun.',

  'mail.affiliate.rejectedSubject': 'Ihre Bewerbung als Partner von {shop}',
  'mail.affiliate.rejected':
    'Vielen Dank für Ihre Bewerbung als Partner von {shop}. Leider können wir sie nicht annehmen.',
  'mail.affiliate.approvedSubject': 'Sie sind jetzt Partner von {shop}',
  'mail.affiliate.approved': 'Willkommen! Ihre Bewerbung als Partner von {shop} wurde angenommen.',
  'mail.affiliate.code':
    'Ihr Code ist {code}. Hängen Sie ?ref={code} an einen beliebigen Link zum Shop an. Für Bestellungen über diesen Link erhalten Sie eine Provision.',
  'mail.affiliate.deactivatedSubject': 'Ihr Partnerkonto bei {shop}',
  'mail.affiliate.deactivated':
    'Wir haben Ihr Partnerkonto bei {shop} deaktiviert. Neue Bestellungen bringen keine Provision.',
  'mail.affiliate.keeps': 'Was Sie verdient haben, behalten Sie.',
  'mail.affiliate.reason': 'Grund: {reason}',
  'mail.referrals.subject': 'Ihre Empfehlungen bei {shop}',
  'mail.referrals.accepted': {
    one: 'Wir haben eine Ihrer Empfehlungen geprüft und angenommen.',
    other: 'Wir haben {count} Ihrer Empfehlungen geprüft und angenommen.'
  },
  'mail.referrals.rejected': {
    one: 'Wir haben eine Ihrer Empfehlungen abgelehnt. Sie bringt keine Provision.',
    other: 'Wir haben {count} Ihrer Empfehlungen abgelehnt. Sie bringen keine Provision.'
  },
  'mail.referrals.credited': {
    one: 'Wir haben Ihnen eine Bestellung gutgeschrieben, die Ihr Link oder Gutschein nicht erfasst hatte.',
    other: 'Wir haben Ihnen {count} Bestellungen gutgeschrieben, die Ihr Link oder Gutschein nicht erfasst hatte.'
  },
  'mail.referrals.line': 'Empfehlung {referral}, Bestellung {order}',
  'mail.referrals.more': { one: 'Und eine weitere.', other: 'Und {count} weitere.' },
  'mail.rate.subject': 'Ihr Provisionssatz bei {shop}',
  'mail.rate.text': 'Ab {day} beträgt Ihre Provision bei {shop} {rate}.',
  'mail.rate.before': 'Bestellungen, die vorher aufgegeben wurden, behalten ihren Satz.',
  'mail.bonus.subject': 'Ihr Guthaben bei {shop}',
  'mail.bonus.added': 'Wir haben Ihrem Guthaben {amount} hinzugefügt.',
  'mail.bonus.taken': 'Wir haben {amount} von Ihrem Guthaben abgezogen.',
  'mail.payout.subject': '{shop} hat Ihnen {amount} ausgezahlt',
  'mail.payout.text': 'Wir haben Ihnen {amount} ausgezahlt. Die Abrechnung nennt jede Bestellung.',
  'mail.payout.failedSubject': 'Eine Zahlung von {amount} von {shop} kam zurück',
  'mail.payout.failed': 'Wir haben Ihnen {amount} ausgezahlt, und das Geld kam zu uns zurück.',
  'mail.payout.again': 'Der Betrag ist wieder fällig. Bitte teilen Sie uns mit, wie wir Sie bezahlen können.',
  'mail.payout.button': 'Abrechnung öffnen',
  'mail.payout.csv': 'Dasselbe als CSV-Datei',

  'mail.receipt.subject': 'Ihre Bestellung {order} bei {shop}',
  'mail.receipt.renewalSubject': 'Ihr Abonnement bei {shop} wurde verlängert: Bestellung {order}',
  'mail.receipt.thanks': 'Vielen Dank für Ihre Bestellung bei {shop}.',
  'mail.receipt.renewed': 'Ihr Abonnement bei {shop} wurde verlängert, vom {from} bis zum {to}.',
  'mail.receipt.paid': 'Wir haben Ihre Zahlung erhalten.',
  'mail.receipt.free': 'Es ist nichts zu bezahlen.',
  'mail.receipt.enterAddress': 'Lieferadresse eingeben',
  'mail.receipt.whereTo':
    'Bitte teilen Sie uns mit, wohin wir Ihre Bestellung liefern sollen. Wir versenden sie, sobald wir die Adresse haben.',
  'mail.receipt.pickup': 'Wir schreiben Ihnen, sobald Sie Ihre Bestellung in unserem Laden abholen können.',
  'mail.receipt.preparing': 'Wir bereiten Ihre Bestellung für den Versand vor.',
  'mail.receipt.holiday': 'Wir versenden wieder nach dem {day}.',
  'mail.receipt.files': 'Ihre Dateien finden Sie auf der Seite Ihrer Bestellung: {names}.',
  'mail.receipt.endAnyTime':
    'Sie können Ihr Abonnement jederzeit kündigen. Verwenden Sie den Link auf der Seite Ihrer Bestellung.',

  'mail.claim.subject': 'Eröffnen Sie Ihr Konto für Ihre Bestellung {order} bei {shop}',
  'mail.claim.text': 'Sie brauchen ein Konto bei {shop}, um das Gekaufte zu nutzen: {names}.',
  'mail.claim.button': 'Konto eröffnen',

  'mail.refund.subject': 'Erstattung für Ihre Bestellung {order} bei {shop}',
  'mail.refund.full': 'Wir haben Ihnen {amount} für Ihre Bestellung {order} erstattet (vollständige Erstattung).',
  'mail.refund.partial': 'Wir haben Ihnen {amount} für Ihre Bestellung {order} erstattet (teilweise Erstattung).',
  'mail.refund.toCard':
    'Der Betrag ist wieder auf Ihrem Geschenkgutschein. Sie können ihn mit Ihrem Code sofort wieder einlösen.',
  'mail.refund.days':
    'Das Geld geht an die Zahlungsart zurück, die Sie verwendet haben. Bis es auf Ihrem Kontoauszug erscheint, können einige Tage vergehen.',
  'mail.refundFailed.subject': 'Die Erstattung für Ihre Bestellung {order} bei {shop} hat Sie nicht erreicht',
  'mail.refundFailed.text':
    'Wir haben {amount} für Ihre Bestellung {order} erstattet, aber Ihre Bank oder Ihr Kartenanbieter hat uns das Geld zurückgesendet.',
  'mail.refundFailed.owed':
    'Wir schulden Ihnen weiterhin {amount}. Wir senden den Betrag noch einmal oder melden uns bei Ihnen, um einen anderen Weg zu finden.',

  'mail.changed.subject': 'Wir haben Ihre Bestellung {order} bei {shop} geändert',
  'mail.changed.text': 'Wir haben Ihre Bestellung {order} bei {shop} geändert.',
  'mail.changed.before': 'Bisher',
  'mail.changed.now': 'Jetzt',
  'mail.changed.name': 'Name',
  'mail.changed.shipping': 'Versand',
  'mail.changed.wrong': 'Wenn Sie das nicht gewünscht haben, antworten Sie bitte auf diese E-Mail.',

  'mail.changed.pay': '{amount} bezahlen',
  'mail.changed.due':
    'Die Änderung kostet {amount}. Bitte zahlen Sie bis {until}. Bis dahin bleibt Ihre Bestellung, wie sie war.',
  'mail.dropped.subject': 'Ihre Bestellung {order} bei {shop} bleibt, wie sie war',
  'mail.dropped.text':
    'Wir wollten Ihre Bestellung {order} ändern. Die Zahlung der Bestellung {addition} dafür ist nicht eingegangen, deshalb ändert sich nichts.',
  'mail.dropped.still': 'Wenn Sie die Änderung noch wünschen, antworten Sie bitte auf diese E-Mail.',

  'mail.return.subject': 'Rücksendung {number} Ihrer Bestellung {order} bei {shop}',
  'mail.return.text': 'Wir erwarten Waren aus Ihrer Bestellung {order} zurück.',
  'mail.return.instructions': 'Bitte senden Sie uns die Waren mit der Nummer der Rücksendung zurück.',
  'mail.return.refund': 'Sobald sie hier sind, erstatten wir, was Sie dafür bezahlt haben.',
  'mail.return.exchange': 'Sobald sie hier sind, senden wir Ihnen den Umtausch.',
  'mail.return.number': 'Nummer der Rücksendung',
  'mail.return.goods': 'Was zurückkommt',

  'mail.shipped.subject': 'Ihre Bestellung {order} bei {shop} ist unterwegs',
  'mail.shipped.subjectPart': 'Ein Teil Ihrer Bestellung {order} bei {shop} ist unterwegs',
  'mail.shipped.text': 'Wir haben Ihre Bestellung versendet.',
  'mail.shipped.textPart': 'Wir haben einen Teil Ihrer Bestellung versendet.',
  'mail.shipped.with': 'Wir haben Ihre Bestellung mit {carrier} versendet.',
  'mail.shipped.withPart': 'Wir haben einen Teil Ihrer Bestellung mit {carrier} versendet.',
  'mail.shipped.rest': 'Wir schreiben Ihnen, sobald der Rest unterwegs ist.',
  'mail.shipped.tracking': 'Sendungsnummer',
  'mail.shipped.track': 'Sendung verfolgen',
  'mail.shipped.parcel': 'In dieser Sendung',
  'mail.pickup.subject': 'Ihre Bestellung {order} bei {shop} liegt zur Abholung bereit',
  'mail.pickup.subjectPart': 'Ein Teil Ihrer Bestellung {order} bei {shop} liegt zur Abholung bereit',
  'mail.pickup.text': 'Sie können Ihre Bestellung in unserem Laden abholen. Bitte bringen Sie die Bestellnummer mit.',
  'mail.pickup.textPart':
    'Sie können einen Teil Ihrer Bestellung in unserem Laden abholen. Bitte bringen Sie die Bestellnummer mit.',
  'mail.pickup.rest': 'Wir schreiben Ihnen, sobald der Rest bereitliegt.',
  'mail.pickup.ready': 'Für Sie bereit',

  'mail.received.subject': 'Wir haben Ihre Bestellung {order} bei {shop} erhalten',
  'mail.received.pay': 'Bitte zahlen Sie {total}.',
  'mail.received.payBy': 'Zahlbar bis',
  'mail.received.bank':
    'Ihre Bank hat die Zahlung noch nicht bestätigt. Wir schreiben Ihnen, sobald das geschehen ist. Sie müssen nichts tun.',
  'mail.received.check':
    'Wir haben Ihre Zahlung von {total} erhalten. Bevor wir die Bestellung bestätigen, müssen wir sie prüfen. Wir schreiben Ihnen.',
  'mail.failed.subject': 'Die Zahlung für Ihre Bestellung {order} bei {shop} ist fehlgeschlagen',
  'mail.failed.text':
    'Die Zahlung von {total} für Ihre Bestellung {order} ist fehlgeschlagen. Es wurde nichts abgebucht.',
  'mail.failed.again':
    'Sie können es erneut versuchen, auch mit einer anderen Zahlungsart. Bis dahin sind die Artikel nicht für Sie reserviert.',
  'mail.failed.leave': 'Wenn Sie die Bestellung nicht mehr möchten, müssen Sie nichts tun.',
  'mail.link.subject': 'Ihre Bestellung {order} bei {shop}: der Link zum Bezahlen',
  'mail.link.text':
    'Wir haben die Bestellung {order} für Sie vorbereitet. Bitte bezahlen Sie {total} mit diesem Link bis {until}. Bis dahin halten wir die Artikel für Sie zurück.',
  'mail.link.address': 'Auf der Seite geben Sie Ihre Adresse an; dort kommen die Versandkosten hinzu.',
  'mail.link.button': 'Bestellung bezahlen',
  'mail.link.leave': 'Wenn Sie die Bestellung nicht möchten, müssen Sie nichts tun.',
  'mail.reminder.subject': 'Ihre Bestellung {order} bei {shop} ist noch nicht bezahlt',
  'mail.reminder.text':
    'Wir haben Ihre Zahlung für die Bestellung {order} noch nicht erhalten. Am {day} stornieren wir die Bestellung.',
  'mail.reminder.paid': 'Wenn Sie bereits bezahlt haben, müssen Sie nichts weiter tun.',

  'mail.renewalFailed.subject': 'Eine Zahlung für Ihr Abonnement bei {shop} ist fehlgeschlagen',
  'mail.renewalFailed.text': 'Wir konnten {amount} für Ihr Abonnement von {names} nicht abbuchen.',
  'mail.renewalFailed.last': 'Das war der letzte Versuch.',
  'mail.renewalFailed.next': 'Am {day} versuchen wir es erneut.',
  'mail.renewalFailed.button': 'Mit einer anderen Karte bezahlen',
  'mail.subscription.access': 'Ihr Zugang bleibt bis {day} bestehen.',
  'mail.subscription.noCharge': 'Es wird nichts mehr abgebucht.',
  'mail.cancelled.subject': 'Ihr Abonnement bei {shop} ist gekündigt',
  'mail.cancelled.text': 'Ihr Abonnement von {names} ist gekündigt.',
  'mail.cancelled.ends': 'Es endet am {day}.',
  'mail.cancelled.access': 'Ihr Zugang bleibt bis dahin bestehen. Es wird nichts mehr abgebucht.',
  'mail.ended.subject': 'Ihr Abonnement bei {shop} ist beendet',
  'mail.ended.text': 'Ihr Abonnement von {names} ist beendet.',
  'mail.end.subject': 'Kündigen Sie Ihr Abonnement bei {shop}: Bestellung {order}',
  'mail.end.text':
    'Sie oder eine andere Person mit dem Link Ihrer Bestellung möchten Ihr Abonnement von {names} kündigen.',
  'mail.end.open': 'Öffnen Sie diesen Link, um es zu kündigen. Wenn Sie es behalten möchten, müssen Sie nichts tun.',
  'mail.end.button': 'Abonnement kündigen',
  'mail.desk.subject': 'Ihr Zugang zum Büro von {shop}',
  'mail.desk.text':
    'Sie haben Zugang zum Büro von {shop} im Browser bekommen. Öffnen Sie den Link auf dem Telefon oder Computer, mit dem Sie arbeiten, und erstellen Sie dort einen Passkey.',
  'mail.desk.button': 'Passkey erstellen',
  'mail.desk.ignore':
    'Wenn Sie das nicht erwartet haben, öffnen Sie den Link nicht, und sagen Sie es dem Inhaber des Shops.',

  'giftCard.bought': 'Ihr Geschenkgutschein',
  'giftCard.keep':
    'Geben Sie diesen Code nur an Personen weiter, die ihn einlösen sollen. Wir haben ihn auch an Ihre E-Mail-Adresse gesendet.',
  'giftCard.code': 'Code',
  'giftCard.balance': 'Guthaben',
  'giftCard.until': 'Gültig bis',
  'giftCard.message': 'Nachricht',
  'mail.giftCard.subject': 'Ein Geschenkgutschein für {shop}',
  'mail.giftCard.text':
    'Sie haben einen Geschenkgutschein für {shop} erhalten. Geben Sie beim Bezahlen seinen Code ein.',
  'mail.giftCard.button': '{shop} öffnen',
  'mail.giftCard.keep': 'Bewahren Sie diese E-Mail gut auf: Wer den Code hat, kann den Gutschein einlösen.'
} as const
