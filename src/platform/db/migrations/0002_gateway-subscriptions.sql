CREATE TABLE `gateway_subscriptions` (
	`gateway_id` text PRIMARY KEY NOT NULL,
	`order_id` integer NOT NULL,
	`current_period_end` integer NOT NULL,
	`ended_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_by_order` ON `gateway_subscriptions` (`order_id`);--> statement-breakpoint
CREATE INDEX `gateway_subscriptions_open` ON `gateway_subscriptions` (`order_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `subscriptions_to_end` ON `subscriptions` (`gateway_id`) WHERE cancelled_at IS NOT NULL AND gateway_id IS NOT NULL;