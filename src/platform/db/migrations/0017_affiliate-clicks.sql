CREATE TABLE `affiliate_clicks` (
	`affiliate_id` integer NOT NULL,
	`day` text NOT NULL,
	`clicks` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `day`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "affiliate_clicks_positive" CHECK("affiliate_clicks"."clicks" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `referrals_by_time` ON `referrals` (`affiliate_id`,`created_at`,`status`,`currency`,`amount_minor`);
