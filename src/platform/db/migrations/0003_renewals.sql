CREATE TABLE `subscription_invoices` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	`gateway_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `subscription_invoices_order` ON `subscription_invoices` (`order_id`);--> statement-breakpoint
CREATE INDEX `subscription_invoices_by_gateway` ON `subscription_invoices` (`gateway_id`,`period_end`);--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_payment_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`gateway` text NOT NULL,
	`kind` text NOT NULL,
	`token` text NOT NULL,
	`create_key` text NOT NULL,
	`confirm_key` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`livemode` integer NOT NULL,
	`object_id` text,
	`payment_intent_id` text,
	`url` text,
	`gateway_status` text,
	`outcome` text,
	`expires_at` integer,
	`settled_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "payment_attempts_gateway" CHECK("__new_payment_attempts"."gateway" IN ('stripe', 'sandbox', 'manual', 'none')),
	CONSTRAINT "payment_attempts_kind" CHECK("__new_payment_attempts"."kind" IN ('checkout_session', 'payment_intent', 'invoice', 'manual', 'none')),
	CONSTRAINT "payment_attempts_outcome" CHECK("__new_payment_attempts"."outcome" IN ('paid', 'failed', 'expired', 'abandoned')),
	CONSTRAINT "payment_attempts_amount" CHECK("__new_payment_attempts"."amount_minor" >= 0),
	CONSTRAINT "payment_attempts_livemode" CHECK("__new_payment_attempts"."livemode" IN (0, 1))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_payment_attempts`("id", "order_id", "gateway", "kind", "token", "create_key", "confirm_key", "amount_minor", "currency", "livemode", "object_id", "payment_intent_id", "url", "gateway_status", "outcome", "expires_at", "settled_at", "created_at", "updated_at") SELECT "id", "order_id", "gateway", "kind", "token", "create_key", "confirm_key", "amount_minor", "currency", "livemode", "object_id", "payment_intent_id", "url", "gateway_status", "outcome", "expires_at", "settled_at", "created_at", "updated_at" FROM `payment_attempts`;--> statement-breakpoint
DROP TABLE `payment_attempts`;--> statement-breakpoint
ALTER TABLE `__new_payment_attempts` RENAME TO `payment_attempts`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `payment_attempts_token` ON `payment_attempts` (`token`);--> statement-breakpoint
CREATE UNIQUE INDEX `payment_attempts_object` ON `payment_attempts` (`object_id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_by_intent` ON `payment_attempts` (`payment_intent_id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_by_order` ON `payment_attempts` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `payment_attempts_open` ON `payment_attempts` (`updated_at`) WHERE outcome IS NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `renewal_of` integer REFERENCES orders(id);--> statement-breakpoint
CREATE INDEX `orders_by_renewal` ON `orders` (`renewal_of`) WHERE renewal_of IS NOT NULL;