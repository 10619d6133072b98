PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_gateway_subscriptions` (
	`gateway_id` text PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	`current_period_end` integer NOT NULL,
	`ended_at` integer,
	`cancel_at_period_end` integer DEFAULT false NOT NULL,
	`reported_try` text,
	CONSTRAINT "gateway_subscriptions_cancel" CHECK("__new_gateway_subscriptions"."cancel_at_period_end" IN (0, 1))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_gateway_subscriptions`("gateway_id", "order_id", "current_period_end", "ended_at", "reported_try") SELECT "gateway_id", "order_id", "current_period_end", "ended_at", "reported_try" FROM `gateway_subscriptions`;--> statement-breakpoint
DROP TABLE `gateway_subscriptions`;--> statement-breakpoint
ALTER TABLE `__new_gateway_subscriptions` RENAME TO `gateway_subscriptions`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_by_order` ON `gateway_subscriptions` (`order_id`);--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_open` ON `gateway_subscriptions` (`order_id`) WHERE ended_at IS NULL;
