CREATE TABLE `invoices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`kind` text NOT NULL,
	`year` integer NOT NULL,
	`sequence` integer NOT NULL,
	`number` text NOT NULL,
	`date` text NOT NULL,
	`currency` text NOT NULL,
	`total_minor` integer NOT NULL,
	`buyer` text,
	`document` text NOT NULL,
	`issued_at` integer NOT NULL,
	CONSTRAINT "invoices_kind" CHECK("invoices"."kind" IN ('invoice', 'credit_note')),
	CONSTRAINT "invoices_total" CHECK("invoices"."total_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_number` ON `invoices` (`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_sequence` ON `invoices` (`kind`,`year`,`sequence`);--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_of_order` ON `invoices` (`order_id`) WHERE kind = 'invoice';--> statement-breakpoint
CREATE INDEX `invoices_by_order` ON `invoices` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_date` ON `invoices` (`date`,`id`);
--> statement-breakpoint
CREATE TRIGGER `invoices_gapless` BEFORE INSERT ON `invoices` WHEN NEW.sequence <> 1 + (SELECT coalesce(max(sequence), 0) FROM invoices WHERE kind = NEW.kind AND year = NEW.year) BEGIN SELECT RAISE(ABORT, 'the numbers of invoices have no gaps'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_unchanged` BEFORE UPDATE OF id, order_id, kind, year, sequence, number, date, currency, total_minor, document, issued_at ON `invoices` BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_buyer_unchanged` BEFORE UPDATE OF buyer ON `invoices` WHEN NEW.buyer IS NOT NULL BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
--> statement-breakpoint
CREATE TRIGGER `invoices_kept` BEFORE DELETE ON `invoices` BEGIN SELECT RAISE(ABORT, 'invoices are never deleted'); END;
